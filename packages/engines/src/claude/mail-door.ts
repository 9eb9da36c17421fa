import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { type Clock, systemClock } from '@ostler/runtime';
import { z } from 'zod';
import type {
  Environment,
  IdentityEvidence,
  MailAddress,
  MailDoor,
  MailPointer,
  Submission,
} from '../doors/mail-door.js';
import { ownSocket } from '../doors/own-socket.js';
import {
  evidenceOf,
  notSubmitted,
  Refusal,
  submitted,
  unknownSubmission,
  wordOf,
} from '../doors/refusal.js';
import { runCommand } from '../doors/run-command.js';
import { configDirectory, statusPath } from './paths.js';

export interface ClaudeMailDoorOptions {
  /** Whose sessions are looked at: its HOME or CLAUDE_CONFIG_DIR, and PATH for the program. */
  readonly env: Environment;
  /** The program; `claude` on PATH where left out. */
  readonly command?: string;
  readonly clock?: Clock;
}

const engine = 'claude';
const listTimeoutMs = 15_000;
const writeTimeoutMs = 3_000;

const listing = z.array(
  z.looseObject({
    sessionId: z.string().optional(),
    cwd: z.string().optional(),
    pid: z.number().int().optional(),
  }),
);

const sessionRecord = z.looseObject({
  sessionId: z.string().optional(),
  cwd: z.string().optional(),
  messagingSocketPath: z.string().optional(),
});

/**
 * The messaging socket of a live Claude Code session: one line of JSON, no reply. The client
 * injects it idle and busy and leaves a draft alone (claude 2.1.328). A session is found by its
 * live listing (`claude agents --json`) and its session record, which must agree.
 */
export class ClaudeMailDoor implements MailDoor {
  readonly engine: string = engine;
  readonly socketRefusal: string = 'claude_socket_is_discovered_from_live_identity';
  readonly #options: ClaudeMailDoorOptions;
  readonly #clock: Clock;

  constructor(options: ClaudeMailDoorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async checkIdentity(address: MailAddress, signal?: AbortSignal): Promise<IdentityEvidence> {
    return await evidenceOf(async () => ({
      harness: engine,
      session_id: address.sessionId,
      workspace: address.workspace,
      socket: await this.#findSocket(address, signal),
    }));
  }

  async submit(
    address: MailAddress,
    pointer: MailPointer,
    signal?: AbortSignal,
  ): Promise<Submission> {
    let socket: string;
    try {
      socket = await this.#findSocket(address, signal);
    } catch (failure) {
      return notSubmitted(wordOf(failure));
    }
    const frame = {
      type: 'user',
      session_id: address.sessionId,
      uuid: pointer.messageId,
      msg_id: pointer.messageId,
      from: `ostler:${pointer.sender}`,
      priority: 'next',
      message: { role: 'user', content: pointer.text },
    };
    return await this.#write(socket, `${JSON.stringify(frame)}\n`);
  }

  /** Launchers inherit variables from one session to another: none of them is evidence here. */
  sessionOf(): null {
    return null;
  }

  async #findSocket(address: MailAddress, signal?: AbortSignal): Promise<string> {
    const pid = await this.#livePid(address, signal);
    const env = definedOnly(this.#options.env);
    const configDir = configDirectory(env);
    if (configDir === null) {
      throw new Refusal('client_home_unknown', 'HOME is not set, so there is no session record');
    }
    const record = sessionRecord.parse(
      JSON.parse(await readFile(statusPath(configDir, pid), 'utf8')),
    );
    if (record.sessionId !== address.sessionId || record.cwd !== address.workspace) {
      throw new Refusal(
        'recipient_identity_changed',
        `process ${pid} runs another session or works in another directory now`,
      );
    }
    if (record.messagingSocketPath === undefined) {
      throw new Refusal(
        'recipient_socket_unavailable',
        'the session offers no messaging socket; its version may be too old',
      );
    }
    return ownSocket(record.messagingSocketPath);
  }

  async #livePid(address: MailAddress, signal?: AbortSignal): Promise<number> {
    const listed = await runCommand({
      command: this.#options.command ?? engine,
      args: ['agents', '--json'],
      env: this.#options.env,
      timeoutMs: listTimeoutMs,
      clock: this.#clock,
      signal,
    });
    if (listed.kind === 'not_started') {
      throw new Refusal(listed.code, 'the program can not be started; is it on PATH?');
    }
    if (listed.kind === 'stopped' || listed.exitCode !== 0) {
      throw new Refusal('listing_failed', 'the live sessions could not be listed');
    }
    const rows = listing
      .parse(JSON.parse(listed.stdout))
      .filter((row) => row.sessionId === address.sessionId && row.cwd === address.workspace);
    const pid = rows.length === 1 ? rows[0]?.pid : undefined;
    if (pid === undefined) {
      throw new Refusal(
        'recipient_unavailable',
        'no live session has this id and workspace, as far as it can be seen from here',
      );
    }
    return pid;
  }

  /** Written means that the kernel took every byte; nobody answers. */
  async #write(socket: string, line: string): Promise<Submission> {
    return await new Promise<Submission>((resolve) => {
      let connected = false;
      const connection = createConnection(socket);
      const finish = (result: Submission): void => {
        timer[Symbol.dispose]();
        connection.destroy();
        resolve(result);
      };
      const timer = this.#clock.setTimer(writeTimeoutMs, () =>
        finish(connected ? unknownSubmission('timeout') : notSubmitted('timeout')),
      );
      connection.once('error', (failure) =>
        finish(connected ? unknownSubmission(wordOf(failure)) : notSubmitted(wordOf(failure))),
      );
      connection.once('connect', () => {
        connected = true;
        // Not by `end`'s callback: that is called after a failed write too.
        connection.once('finish', () => finish(submitted('claude_socket_bytes_written')));
        connection.end(line);
      });
    });
  }
}

function definedOnly(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
