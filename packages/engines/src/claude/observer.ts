import { type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, Logger } from '@ostler/runtime';
import type { EngineObserver, ObserveRequest } from '../engine.js';
import type { EngineEvent } from '../engine-event.js';
import type { ReadingSignal } from '../reading.js';
import { type RecordStart, RecordTail } from '../record-tail.js';
import { AcceptedOnce } from './accepted-once.js';
import { DirectoryWatch } from './directory-watch.js';
import { unwrapPastedContent } from './fingerprint.js';
import { type HookEvent, HookInbox, hookDirectory } from './hooks.js';
import { sessionIdOf } from './launch.js';
import { configDirectory, statusPath, transcriptPath } from './paths.js';
import { ClaudeRecord } from './record.js';
import { parseSessionStatus, restingStatus, statusSignal } from './status-file.js';

/** Transcripts of one live session that are remembered with the place reading stopped at. */
const maxVisitedRecords = 64;
/** A conversation that was resumed may be long; only the end of its record can be of this session. */
const maxCatchUpBytes: number = 8 * 1024 * 1024;

/**
 * Follows one Claude Code process: its hooks, its transcript from the moment of
 * launch and through /clear and resume, its session status file.
 */
export class ClaudeObserver implements EngineObserver {
  readonly #request: ObserveRequest;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #configDir: string | null;
  readonly #record = new ClaudeRecord();
  readonly #accepted = new AcceptedOnce();
  readonly #visited = new Map<string, number>();
  readonly #hooks: HookInbox;
  readonly #statusFile: string | null;
  readonly #statusWatch: DirectoryWatch | null;
  #tail: RecordTail | null = null;
  #moving: Promise<void> = Promise.resolve();
  #status: ReadingSignal | null = null;
  #statusSessionId: string | null = null;
  #sessionId: string | null;
  #resting = false;
  #disposed = false;

  constructor(request: ObserveRequest) {
    this.#request = request;
    this.#clock = request.clock;
    this.#logger = request.logger;
    this.#configDir = configDirectory(request.plan.env);
    const sessionId = sessionIdOf(request.plan.args);
    this.#sessionId = sessionId;
    if (this.#configDir !== null && sessionId !== null) {
      const file = transcriptPath(this.#configDir, request.request.cwd, sessionId);
      this.#follow(file, this.#startOf(statSync(file, { throwIfNoEntry: false })));
    }
    this.#hooks = new HookInbox({
      directory: hookDirectory(request.request.sessionDir),
      clock: this.#clock,
      logger: this.#logger,
      onEvent: (event, atMs) => this.#onHook(event, atMs),
    });
    this.#statusFile =
      this.#configDir === null ? null : statusPath(this.#configDir, request.process.pid);
    this.#statusWatch = this.#watchStatus();
  }

  signals(): readonly ReadingSignal[] {
    return this.#status === null ? [] : [this.#status];
  }

  sessionId(): string | null {
    return this.#sessionId;
  }

  attend(): void {
    this.#hooks.attend();
    this.#statusWatch?.attend();
    this.#tail?.attend();
  }

  async catchUp(): Promise<void> {
    if (this.#statusFile !== null) await this.#readStatus(this.#statusFile);
    await this.#moving;
    await this.#tail?.catchUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#statusWatch?.[Symbol.dispose]();
    await this.#hooks[Symbol.asyncDispose]();
    await this.#moving;
    await this.#tail?.[Symbol.asyncDispose]();
  }

  #emit(event: EngineEvent): void {
    if (this.#disposed) return;
    // A resumed or forked conversation begins with what other sessions did.
    if (event.atMs < this.#request.launchedAtMs) return;
    if (event.kind === 'input_accepted' && !this.#accepted.admits(event)) return;
    this.#request.onEvent(event);
  }

  #onHook(event: HookEvent, atMs: number): void {
    if (event.hook_event_name === 'UserPromptSubmit' && event.prompt !== undefined) {
      const text = unwrapPastedContent(event.prompt);
      this.#emit({ kind: 'input_accepted', text, evidence: 'hook', inputRef: null, atMs });
    }
    if (event.hook_event_name === 'SessionStart' && event.session_id !== undefined) {
      this.#sessionId = event.session_id;
    }
    // A background agent of this session fires the hooks too; its start is no rotation of ours.
    const moves = event.hook_event_name === 'SessionStart' || this.#tail === null;
    if (moves && event.transcript_path !== undefined) this.#moveTo(event.transcript_path, atMs);
  }

  /** Moves run one after another; the old file is read to its end first. */
  #moveTo(file: string, atMs: number): void {
    this.#moving = this.#moving
      .then(async () => {
        if (this.#disposed || this.#tail?.path === file) return;
        const old = this.#tail;
        const from = await this.#startIn(file);
        if (old) {
          await old.catchUp();
          this.#remember(old);
          await old[Symbol.asyncDispose]();
          for (const event of this.#record.rotate()) this.#emit(event);
        }
        this.#follow(file, from);
        if (old) this.#emit({ kind: 'record_rotated', path: file, atMs });
      })
      .catch((failure: unknown) => {
        this.#logger.error({ failure: String(failure) }, 'the record could not be followed on');
      });
  }

  /** A file left before is read on from there. */
  async #startIn(file: string): Promise<RecordStart> {
    const offset = this.#visited.get(file);
    if (offset !== undefined) return { offset };
    try {
      return this.#startOf(await stat(file));
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return 'start';
      throw failure;
    }
  }

  /** A file of this launch is read whole, of an older one the last part. */
  #startOf(file: Pick<Stats, 'birthtimeMs' | 'size'> | undefined): RecordStart {
    if (!file || file.birthtimeMs >= this.#request.launchedAtMs) return 'start';
    return { offset: Math.max(0, file.size - maxCatchUpBytes) };
  }

  #remember(tail: RecordTail): void {
    this.#visited.set(tail.path, tail.offset);
    if (this.#visited.size <= maxVisitedRecords) return;
    const oldest = this.#visited.keys().next().value;
    if (oldest !== undefined) this.#visited.delete(oldest);
  }

  #follow(file: string, from: RecordStart): void {
    this.#tail = new RecordTail({
      path: file,
      from,
      clock: this.#clock,
      logger: this.#logger,
      onRecord: ({ value }) => {
        for (const event of this.#record.take(value)) this.#emit(event);
        this.#endAtRest();
      },
      onReset: () => this.#record.reset(),
    });
  }

  /**
   * An end that nothing follows yet may have more blocks to come: not once the engine is at
   * rest and its record is read to the end. (Its last entry, `turn_duration`, can be switched off.)
   */
  #endAtRest(): void {
    if (this.#resting || this.#status?.value !== restingStatus || !this.#record.endIsOpen) return;
    this.#resting = true;
    void Promise.resolve(this.#tail?.catchUp()).then(() => {
      this.#resting = false;
      for (const event of this.#record.rest()) this.#emit(event);
    });
  }

  #watchStatus(): DirectoryWatch | null {
    const file = this.#statusFile;
    if (file === null) return null;
    const read = (): void => void this.#readStatus(file);
    read();
    return new DirectoryWatch({
      directory: path.dirname(file),
      clock: this.#clock,
      onChange: read,
    });
  }

  async #readStatus(file: string): Promise<void> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.#logger.warn({ failure: String(failure) }, 'session status not readable');
      }
      return;
    }
    const status = parseSessionStatus(text);
    if (!status || this.#disposed) return;
    const signal = statusSignal(status, this.#clock.nowMs());
    if (signal.value !== this.#status?.value) {
      this.#status = signal;
      this.#emit({ kind: 'signals_changed', atMs: signal.atMs });
      this.#endAtRest();
    }
    this.#followSession(status.sessionId ?? null, status.cwd ?? this.#request.request.cwd);
  }

  /** Where no hook tells (policies can switch hooks off), the status file's session id does. */
  #followSession(sessionId: string | null, cwd: string): void {
    if (sessionId === null || sessionId === this.#statusSessionId || this.#configDir === null)
      return;
    this.#statusSessionId = sessionId;
    this.#sessionId = sessionId;
    if (this.#tail && path.basename(this.#tail.path) === `${sessionId}.jsonl`) return;
    this.#moveTo(transcriptPath(this.#configDir, cwd, sessionId), this.#clock.nowMs());
  }
}
