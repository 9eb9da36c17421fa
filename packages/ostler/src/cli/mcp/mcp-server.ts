import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { maxWaitSeconds } from '@ostler/mailbox';
import { CodedError } from '@ostler/runtime';
import { z } from 'zod';
import { daemonTerminals } from '../mail/daemon-terminals.js';
import { databasePath } from '../mail/places.js';
import { refused } from '../mail/recovery.js';
import { MailVerbs } from '../mail/verbs.js';
import { version } from '../version.js';
import { mailSkill } from './skill.js';

export interface McpOptions {
  readonly db?: string | undefined;
  readonly as?: string | undefined;
  readonly stateDir?: string | undefined;
}

const reads = { readOnlyHint: true, openWorldHint: false } as const;
const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;
/** The same call again changes nothing more. */
const repeatable = { ...writes, idempotentHint: true } as const;

const messageId = z.string().describe('The full id of the message.');
const body = z.string().describe('1 to 32,000 bytes of text.');
const notify = z
  .boolean()
  .default(true)
  .describe('False: saved for the inbox alone, nobody is told.');

/** The mailbox's verbs as tools, on stdin and stdout, until stdin ends. */
export async function serveMail(options: McpOptions): Promise<void> {
  const path = databasePath(options.db, process.env);
  using verbs = new MailVerbs({
    path,
    asserted: options.as,
    env: process.env,
    terminals: daemonTerminals(options.stateDir),
  });
  const server = mailServer(verbs, path);
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

/** A server with the mail tools, not connected yet. */
export function mailServer(verbs: MailVerbs, path: string): McpServer {
  const server = new McpServer({ name: 'ostler-mail', version }, { instructions: mailSkill });
  const answer = answerer(verbs, path);

  server.registerTool(
    'mail_send',
    {
      description:
        'Ask another agent session. The request is saved, then its recipient is told once.',
      inputSchema: z.strictObject({
        recipient: z.string().describe('A registered peer; see mail_peer_list.'),
        message: body,
        id: z
          .string()
          .optional()
          .describe('A UUID of yours: the same with the same message is the same request.'),
        notify,
        wait_seconds: z
          .number()
          .default(0)
          .describe(`Then wait for the answer, 0 to ${maxWaitSeconds} seconds.`),
      }),
      annotations: writes,
    },
    ({ id, message, notify: tell, recipient, wait_seconds: waitSeconds }, { signal }) =>
      answer(async () => {
        const post = { body: message, notify: tell, id, waitSeconds, signal };
        return (await verbs.send(recipient, post)).document;
      }),
  );
  server.registerTool(
    'mail_reply',
    {
      description: 'Answer a request to you, once. The same text again is the same answer.',
      inputSchema: z.strictObject({ request_id: messageId, message: body, notify }),
      annotations: repeatable,
    },
    ({ message, notify: tell, request_id: id }, { signal }) =>
      answer(async () => (await verbs.reply(id, { body: message, notify: tell, signal })).document),
  );
  server.registerTool(
    'mail_wait',
    {
      description: 'Wait for the answer to a request of yours. Sends nothing; may be repeated.',
      inputSchema: z.strictObject({
        request_id: messageId,
        seconds: z.number().default(maxWaitSeconds).describe(`0 to ${maxWaitSeconds}.`),
      }),
      annotations: reads,
    },
    ({ request_id: id, seconds }, { signal }) => answer(() => verbs.wait(id, seconds, signal)),
  );
  server.registerTool(
    'mail_show',
    {
      description: 'One message you sent or received, with its answer. Acknowledges nothing.',
      inputSchema: z.strictObject({ message_id: messageId }),
      annotations: reads,
    },
    ({ message_id: id }) => answer(() => verbs.show(id)),
  );
  server.registerTool(
    'mail_ack',
    {
      description: 'Acknowledge a message to you, after reading it. A question stays open.',
      inputSchema: z.strictObject({ message_id: messageId }),
      annotations: repeatable,
    },
    ({ message_id: id }) => answer(() => verbs.ack(id)),
  );
  server.registerTool(
    'mail_inbox',
    {
      description:
        "Questions to you without an answer, and answers to you that you haven't acknowledged.",
      annotations: reads,
    },
    () => answer(() => verbs.inbox()),
  );
  server.registerTool(
    'mail_sent',
    { description: 'Everything you sent, with what became of it.', annotations: reads },
    () => answer(() => verbs.sent()),
  );
  registerPeerTools(server, verbs, answer);
  return server;
}

type Answer = (act: () => object | Promise<object>) => Promise<CallToolResult>;

function registerPeerTools(server: McpServer, verbs: MailVerbs, answer: Answer): void {
  server.registerTool(
    'mail_peer_list',
    { description: 'The agent sessions that can be written to.', annotations: reads },
    () => answer(() => verbs.peers()),
  );
  server.registerTool(
    'mail_peer_check',
    {
      description: "Look at what shows a session's identity. Sends nothing.",
      inputSchema: z.strictObject({ name: z.string() }),
      annotations: reads,
    },
    ({ name }, { signal }) => answer(() => verbs.checkPeer(name, signal)),
  );
  server.registerTool(
    'mail_peer_add',
    {
      description: 'Register a session under a name, for good. The same again changes nothing.',
      inputSchema: z.strictObject({
        name: z.string().describe('a–z, 0–9, _ and -, at most 64.'),
        engine: z.string().describe('The agent program the session runs in.'),
        session: z.string().describe("The session's own UUID."),
        workspace: z.string().describe('The directory it works in.'),
        socket: z.string().optional().describe('A server the session is reached through.'),
      }),
      annotations: repeatable,
    },
    (peer) => answer(() => verbs.addPeer(peer)),
  );
}

/** A document as a tool's text; a refusal as one with `isError`. */
function answerer(verbs: MailVerbs, path: string): Answer {
  return async (act) => {
    try {
      return { content: [{ type: 'text', text: JSON.stringify(await act()) }] };
    } catch (failure) {
      if (!(failure instanceof CodedError)) throw failure;
      const document = refused(failure, await actorIfKnown(verbs), path);
      return { isError: true, content: [{ type: 'text', text: JSON.stringify(document) }] };
    }
  };
}

async function actorIfKnown(verbs: MailVerbs): Promise<string | null> {
  try {
    return await verbs.actor();
  } catch (failure) {
    if (failure instanceof CodedError) return null;
    throw failure;
  }
}
