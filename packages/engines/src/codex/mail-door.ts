import { type Clock, systemClock } from '@ostler/runtime';
import { z } from 'zod';
import type {
  Environment,
  ForeignRows,
  IdentityEvidence,
  MailAddress,
  MailDoor,
  MailPointer,
  Submission,
} from '../doors/mail-door.js';
import {
  evidenceOf,
  notSubmitted,
  Refusal,
  submitted,
  unknownSubmission,
  wordOf,
} from '../doors/refusal.js';
import { runCommand } from '../doors/run-command.js';
import { AppServerLink } from './app-server-link.js';
import { stateDatabase } from './state-file.js';

export interface CodexMailDoorOptions {
  /** Whose sessions are looked at: CODEX_HOME, CODEX_SQLITE_HOME, HOME, and PATH for the program. */
  readonly env: Environment;
  readonly foreignRows: ForeignRows;
  /** The program; `codex` on PATH where left out. */
  readonly command?: string;
  readonly clock?: Clock;
}

const engine = 'codex';
const queueTimeoutMs = 20_000;
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** All of what `codex queue` prints (codex 0.169.0). */
const queueReceipt = new RegExp(`^Queued message (${uuid}) for thread (${uuid})\\.\\s*$`, 'u');
const sqlOfThread = 'SELECT id, cwd, archived, source FROM threads WHERE id = ?';

const savedThread = z.object({
  id: z.string(),
  cwd: z.string(),
  archived: z.union([z.number(), z.bigint()]),
  source: z.string(),
});

const readThread = z.looseObject({
  thread: z.looseObject({
    id: z.string(),
    cwd: z.string(),
    status: z.looseObject({ type: z.string() }),
  }),
});

const queueAdded = z.looseObject({
  queuedSubmission: z.looseObject({ id: z.string(), clientUserMessageId: z.string() }),
});

/**
 * Codex's own queue: `codex queue` for a saved thread, `thread/queue/add` for a thread of an
 * app-server whose socket the address names (codex 0.169.0). A queued entry becomes a turn of
 * its own; that it was queued says nothing of when.
 */
export class CodexMailDoor implements MailDoor {
  readonly engine: string = engine;
  readonly socketRefusal: null = null;
  readonly #options: CodexMailDoorOptions;
  readonly #clock: Clock;

  constructor(options: CodexMailDoorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async checkIdentity(address: MailAddress): Promise<IdentityEvidence> {
    return await evidenceOf(async () => {
      if (address.socket === null) return this.#savedIdentity(address);
      using link = await this.#connect(address.socket);
      return await loadedIdentity(link, address);
    });
  }

  async submit(
    address: MailAddress,
    pointer: MailPointer,
    signal?: AbortSignal,
  ): Promise<Submission> {
    return address.socket === null
      ? await this.#queue(address, pointer, signal)
      : await this.#add(address, address.socket, pointer);
  }

  sessionOf(env: Environment): { sessionId: string; conflict: string } | null {
    const sessionId = env['CODEX_THREAD_ID'];
    if (sessionId === undefined || sessionId === '') return null;
    return { sessionId, conflict: 'actor_conflicts_with_CODEX_THREAD_ID' };
  }

  #savedIdentity(address: MailAddress): Record<string, string> {
    const file = stateDatabase(this.#options.env);
    const rows = this.#options.foreignRows(file, sqlOfThread, [address.sessionId]);
    if (rows.length === 0) {
      throw new Refusal('recipient_not_in_codex_state', `${file} has no thread of this id`);
    }
    const row = savedThread.parse(rows[0]);
    if (row.id !== address.sessionId || row.cwd !== address.workspace) {
      throw new Refusal('recipient_identity_changed', 'the thread belongs to another directory');
    }
    if (Number(row.archived) !== 0 || row.source !== 'cli') {
      throw new Refusal(
        'recipient_is_not_an_unarchived_codex_cli_session',
        `the thread is archived, or its source is "${row.source}" and not "cli"`,
      );
    }
    return {
      harness: engine,
      session_id: row.id,
      workspace: row.cwd,
      metadata_source: file,
      transport: 'codex_cli_queue',
      runtime_status: 'unknown',
    };
  }

  async #connect(socket: string): Promise<AppServerLink> {
    return await AppServerLink.open(socket, this.#clock, 'ostler');
  }

  async #queue(
    address: MailAddress,
    pointer: MailPointer,
    signal?: AbortSignal,
  ): Promise<Submission> {
    try {
      this.#savedIdentity(address);
    } catch (failure) {
      return notSubmitted(wordOf(failure));
    }
    const result = await runCommand({
      command: this.#options.command ?? engine,
      args: ['queue', '--thread', address.sessionId, '--message', pointer.text],
      env: this.#options.env,
      timeoutMs: queueTimeoutMs,
      clock: this.#clock,
      signal,
    });
    if (result.kind === 'not_started') return notSubmitted(result.code);
    if (result.kind === 'stopped') return unknownSubmission(`codex_cli_${result.why}`);
    const receipt = queueReceipt.exec(result.stdout);
    if (result.exitCode === 0 && receipt?.[2] === address.sessionId) {
      return submitted(`codex_cli_queued:${receipt[1]}`);
    }
    // It may have queued before it failed, or before it said something unfamiliar.
    return unknownSubmission('codex_cli_unconfirmed_receipt');
  }

  async #add(address: MailAddress, socket: string, pointer: MailPointer): Promise<Submission> {
    let attempted = false;
    try {
      using link = await this.#connect(socket);
      await loadedIdentity(link, address);
      attempted = true;
      const receipt = queueAdded.parse(
        await link.call('thread/queue/add', {
          threadId: address.sessionId,
          clientUserMessageId: pointer.messageId,
          input: [{ type: 'text', text: pointer.text }],
        }),
      );
      const { clientUserMessageId, id } = receipt.queuedSubmission;
      return clientUserMessageId === pointer.messageId
        ? submitted(`codex_queued:${id}`)
        : unknownSubmission('codex_queue_receipt_mismatch');
    } catch (failure) {
      return attempted ? unknownSubmission(wordOf(failure)) : notSubmitted(wordOf(failure));
    }
  }
}

async function loadedIdentity(
  link: AppServerLink,
  address: MailAddress,
): Promise<Record<string, string>> {
  const { thread } = readThread.parse(
    await link.call('thread/read', { threadId: address.sessionId, includeTurns: false }),
  );
  if (thread.id !== address.sessionId || thread.cwd !== address.workspace) {
    throw new Refusal('recipient_identity_changed', 'the server knows the thread otherwise');
  }
  const { type: status } = thread.status;
  if (status !== 'idle' && status !== 'active') {
    throw new Refusal('recipient_not_loaded', `the thread's status is "${status}"`);
  }
  return { harness: engine, session_id: thread.id, workspace: thread.cwd, status };
}
