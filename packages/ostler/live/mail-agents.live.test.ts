import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelScript } from '@ostler/lab';
import { randomIds } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { reasonToSkip } from './deliveries.js';
import { MailWorld, until } from './mail-world.js';

const claude = { engine: 'claude', version: '2.1.328' } as const;
const codex = { engine: 'codex', version: '0.169.0' } as const;
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const skip =
  reasonToSkip(claude) ?? reasonToSkip(codex) ?? (existsSync(main) ? null : 'it is not built');

const byCodex = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const byClaude = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';

/**
 * What a model does with the mail tools. The pointer of a request names its id, which the asker
 * chose; then it reads its inbox and answers. Other pointers make it look at its own request.
 */
function mailScript(
  tool: (name: string) => { name: string; namespace?: string },
  own: { id: string; to: string },
  other: string,
): ModelScript {
  const call = (name: string, input: Record<string, unknown>) => ({
    do: 'tool' as const,
    ...tool(name),
    input,
  });
  return {
    rules: [
      {
        when: { equals: 'Ask the other session.' },
        steps: [
          call('mail_send', { recipient: own.to, message: `A question to ${own.to}`, id: own.id }),
          { do: 'say', text: 'Asked.' },
        ],
      },
      {
        when: { includes: `[ostler mail; message ${other}]` },
        steps: [
          call('mail_inbox', {}),
          call('mail_reply', { request_id: other, message: `The answer of the one asked` }),
          { do: 'say', text: 'Answered.' },
        ],
      },
      {
        when: { includes: '[ostler mail; message ' },
        steps: [
          call('mail_inbox', {}),
          call('mail_show', { message_id: own.id }),
          { do: 'say', text: 'Read.' },
        ],
      },
    ],
    otherwise: [{ do: 'say', text: 'Done.' }],
  };
}

describe.skipIf(skip !== null)(
  `two agents use the mail tools${skip === null ? '' : ` (skipped: ${skip})`}`,
  () => {
    test('each asks, is asked and answers, told by the other client’s own door', async () => {
      await using world = await MailWorld.open();
      const { dir, homeDir, workDir } = world.sandbox;
      const environment = {
        HOME: homeDir,
        PATH: `${world.binDir}:/usr/local/bin:/usr/bin:/bin`,
        // Where the client programs look for their models; nothing is asked there.
        SCRIPTED_MODEL_KEY: 'scripted',
      };
      const args = (name: string): string[] => [main, 'mcp', '--as', name, '--db', world.dbPath];
      const sessionId = randomIds.uuid();
      const config = join(dir, 'mcp.json');
      writeFileSync(
        config,
        JSON.stringify({
          mcpServers: {
            mail: { command: process.execPath, args: args('reviewer'), env: environment },
          },
        }),
      );
      const toml = [
        `mcp_servers.mail.command=${JSON.stringify(process.execPath)}`,
        `mcp_servers.mail.args=${JSON.stringify(args('builder'))}`,
        `mcp_servers.mail.env={${Object.entries(environment)
          .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
          .join(',')}}`,
      ].flatMap((entry) => ['-c', entry]);

      const reviewer = await world.launch(
        claude,
        mailScript(
          (name) => ({ name: `mcp__mail__${name}` }),
          { id: byClaude, to: 'builder' },
          byCodex,
        ),
        {
          // A session that bypasses permissions holds what others send until a person lets it in.
          extraArgs: [
            ...['--session-id', sessionId, '--allowedTools=mcp__mail'],
            ...['--strict-mcp-config', `--mcp-config=${config}`],
          ],
        },
      );
      await world.idle(reviewer.agent);
      const builder = await world.launch(
        codex,
        mailScript(
          (name) => ({ name, namespace: 'mcp__mail' }),
          { id: byCodex, to: 'reviewer' },
          byClaude,
        ),
        { permissions: 'free', extraArgs: toml },
      );
      await world.idle(builder.agent);
      await world.prompt(builder.agent, 'a first turn');
      const mailbox = world.mailbox(world.env(reviewer.launch));
      mailbox.addPeer({ name: 'reviewer', harness: 'claude', sessionId, workspace: workDir });
      mailbox.addPeer({
        name: 'builder',
        harness: 'codex',
        sessionId: await world.codexThread(),
        workspace: workDir,
      });
      await until(
        'the live listing',
        async () => (await mailbox.checkPeer('reviewer')).kind === 'found',
      );

      await world.prompt(builder.agent, 'Ask the other session.');
      await until('the reviewer’s answer', () => mailbox.sent('reviewer').length === 1);
      await until('the builder looked', () =>
        JSON.stringify(builder.model.requests()).includes('The answer of the one asked'),
      );
      await world.idle(reviewer.agent);
      await world.prompt(reviewer.agent, 'Ask the other session.');
      await until('the builder’s answer', () => mailbox.sent('builder').length === 2);
      await until('all pointers taken', () =>
        [...mailbox.sent('builder'), ...mailbox.sent('reviewer')].every(
          ({ submission }) => submission === 'submitted',
        ),
      );
      const told = [...mailbox.sent('builder'), ...mailbox.sent('reviewer')].map(
        ({ notification_detail: detail, sender, in_reply_to: to }) =>
          `${sender} ${to === null ? 'asks' : 'answers'}: ${detail?.split(':')[0]}`,
      );
      expect(told.sort()).toEqual([
        'builder answers: claude_socket_bytes_written',
        'builder asks: claude_socket_bytes_written',
        'reviewer answers: codex_cli_queued',
        'reviewer asks: codex_cli_queued',
      ]);
      expect(mailbox.show('builder', byCodex)).toMatchObject({ state: 'reply_received' });
      expect(mailbox.show('reviewer', byClaude)).toMatchObject({ state: 'reply_received' });
    });
  },
);
