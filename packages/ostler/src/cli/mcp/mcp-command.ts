import { Command } from 'commander';
import { stateDirOption } from '../option-values.js';

interface McpFlags {
  readonly db?: string;
  readonly as?: string;
  readonly stateDir?: string;
  readonly skill?: boolean;
}

/** `ostler mcp`: the mailbox's verbs as MCP tools, for agents. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .description('the mailbox as an MCP server on stdin and stdout, for agents')
    .option('--db <path>', 'the mailbox; else OSTLER_MAIL_DB, HTALK_DB, the XDG data directory')
    .option('--as <name>', 'who speaks; else OSTLER_PEER, HTALK_PEER')
    .addOption(stateDirOption())
    .option('--skill', "print the text for an agent's instructions, and nothing else")
    .showHelpAfterError('(run the command with --help for its options)')
    .exitOverride()
    .addHelpText(
      'after',
      '\nExamples:\n  ostler mcp --as builder\n  ostler mcp --skill > skills/mail/SKILL.md',
    )
    .action(async (flags: McpFlags) => {
      if (flags.skill === true) {
        const { mailSkill } = await import('./skill.js');
        process.stdout.write(mailSkill);
        return;
      }
      const { serveMail } = await import('./mcp-server.js');
      await serveMail(flags);
    });
}
