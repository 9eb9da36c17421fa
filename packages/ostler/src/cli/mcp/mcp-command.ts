import type { OwnedTerminals } from '@ostler/mailbox';
import { Command } from 'commander';

export interface McpCommandOptions {
  /** Asks a running Ostler for its sessions; undefined where none runs. */
  readonly terminals?: () => Promise<OwnedTerminals | undefined>;
}

/** `ostler mcp`: the mailbox's verbs as MCP tools, for agents. */
export function mcpCommand(options: McpCommandOptions = {}): Command {
  return new Command('mcp')
    .description('the mailbox as an MCP server on stdin and stdout, for agents')
    .option('--db <path>', 'the mailbox; else OSTLER_MAIL_DB, HTALK_DB, the XDG data directory')
    .option('--as <name>', 'who speaks; else OSTLER_PEER')
    .option('--skill', "print the text for an agent's instructions, and nothing else")
    .showHelpAfterError('(run the command with --help for its options)')
    .exitOverride()
    .addHelpText(
      'after',
      '\nExamples:\n  ostler mcp --as builder\n  ostler mcp --skill > skills/mail/SKILL.md',
    )
    .action(async (flags: { db?: string; as?: string; skill?: boolean }) => {
      if (flags.skill === true) {
        const { mailSkill } = await import('./skill.js');
        process.stdout.write(mailSkill);
        return;
      }
      const { serveMail } = await import('./mcp-server.js');
      const terminals = await options.terminals?.();
      await serveMail({ db: flags.db, as: flags.as, terminals });
    });
}
