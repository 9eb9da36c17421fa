import fs from 'node:fs';
import path from 'node:path';
import type { EngineObserver, ObserveRequest } from '../engine.js';
import type { ReadingSignal } from '../reading.js';
import { RecordTail } from '../record-tail.js';
import { SafetyPoll } from '../safety-poll.js';
import { readHeldFiles, threadOfRollout } from './process-files.js';
import { CodexRecordReader, readRecordOwner } from './record.js';

/** File events tell of new threads at once; one that gets lost is found this much later, while something happens. */
const SAFETY_SCAN_MS = 2_000;
/** A resumed conversation may be long; only its end can be of this session. */
const MAX_CATCH_UP_BYTES = 8 * 1024 * 1024;
const MAX_THREADS = 64;

interface Followed {
  readonly tail: RecordTail;
  readonly threadId: string;
  readonly owner: ThreadOwner;
}

interface ThreadOwner {
  /** By the record's first line: the user's own thread, or one the engine made for itself. */
  isUsers: boolean | null;
}

/**
 * Follows the rollout files that this session's own processes hold open, through
 * /clear, /new, resume and fork. Entries older than the launch are left out.
 *
 * No hooks: a `notify` or hook set by `-c` would replace the user's own, and new
 * hooks open a review dialog. Without /proc no record is found, and none is guessed.
 */
export class CodexObserver implements EngineObserver {
  readonly #request: ObserveRequest;
  readonly #home: string;
  readonly #followed = new Map<string, Followed>();
  readonly #watchers = new Map<string, fs.FSWatcher>();
  #heldThreads: ReadonlySet<string> = new Set();
  #currentThread: { readonly id: string; readonly atMs: number } | null = null;
  readonly #poll: SafetyPoll;
  #scanning: Promise<void> | null = null;
  #again = false;
  #disposed = false;

  constructor(request: ObserveRequest) {
    this.#request = request;
    const { env } = request.plan;
    this.#home = env.CODEX_HOME ?? path.join(env.HOME ?? '/', '.codex');
    this.#poll = new SafetyPoll({
      clock: request.clock,
      intervalMs: SAFETY_SCAN_MS,
      look: () => this.#wake(),
    });
    this.#wake();
  }

  signals(): readonly ReadingSignal[] {
    const thread = this.#currentThread;
    return thread ? [{ source: 'thread', value: thread.id, atMs: thread.atMs }] : [];
  }

  /** The one thread of the user's that its processes hold; with two of them it can't be told. */
  sessionId(): string | null {
    const helpers = new Set<string>();
    for (const { owner, threadId } of this.#followed.values()) {
      if (owner.isUsers === false) helpers.add(threadId);
    }
    const own = [...this.#heldThreads].filter((threadId) => !helpers.has(threadId));
    return own.length === 1 ? (own[0] ?? null) : null;
  }

  attend(): void {
    this.#poll.attend();
    for (const { tail } of this.#followed.values()) tail.attend();
  }

  async catchUp(): Promise<void> {
    this.#wake();
    while (this.#scanning) await this.#scanning;
    for (const { tail } of this.#followed.values()) await tail.catchUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#poll[Symbol.dispose]();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    while (this.#scanning) await this.#scanning;
    for (const { tail } of this.#followed.values()) await tail[Symbol.asyncDispose]();
  }

  #wake(): void {
    if (this.#disposed) return;
    this.#again = true;
    this.#scanning ??= this.#run().finally(() => {
      this.#scanning = null;
    });
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#disposed) {
      this.#again = false;
      this.#watchDirectories();
      await this.#scan();
    }
  }

  async #scan(): Promise<void> {
    const held = await readHeldFiles(this.#request.process.pid, realPath(this.#home));
    if (this.#disposed) return;
    for (const file of held.rollouts) this.#follow(file);
    const threadIds = [...held.threadIds, ...held.rollouts.map(threadOfRollout)].filter(
      (id) => id !== null,
    );
    this.#heldThreads = new Set(threadIds);
    // Thread ids begin with their time: the greatest is the newest.
    const newest = threadIds.sort().at(-1);
    if (newest !== undefined && newest !== this.#currentThread?.id) {
      const atMs = this.#request.clock.nowMs();
      this.#currentThread = { id: newest, atMs };
      this.#request.onEvent({ kind: 'signals_changed', atMs });
    }
  }

  #follow(file: string): void {
    const threadId = threadOfRollout(file);
    if (threadId === null || this.#followed.has(file)) return;
    if (this.#followed.size >= MAX_THREADS) {
      this.#request.logger.warn({ threads: MAX_THREADS }, 'no more records are followed');
      return;
    }
    const { clock, logger, launchedAtMs } = this.#request;
    let reader = new CodexRecordReader(threadId);
    const thread: ThreadOwner = { isUsers: null };
    const found = fs.statSync(file, { throwIfNoEntry: false });
    const isOlder = found !== undefined && found.birthtimeMs < launchedAtMs;
    const tail = new RecordTail({
      path: file,
      // A file of this session is read whole, of an older one the last part.
      from: isOlder ? { offset: Math.max(0, found.size - MAX_CATCH_UP_BYTES) } : 'start',
      clock,
      logger,
      onReset: () => {
        reader = new CodexRecordReader(threadId);
      },
      onRecord: ({ value, offset }) => {
        const owner = readRecordOwner(value);
        if (owner) thread.isUsers = owner.isUsers;
        for (const event of reader.read(value, offset)) {
          if (thread.isUsers !== false && event.atMs >= launchedAtMs) this.#request.onEvent(event);
        }
      },
    });
    if (this.#followed.size > 0) {
      this.#request.onEvent({ kind: 'record_rotated', path: file, atMs: clock.nowMs() });
    }
    this.#followed.set(file, { tail, threadId, owner: thread });
  }

  /** Locks tell of new threads; the newest day's directory tells of new rollouts. */
  #watchDirectories(): void {
    const wanted = new Set([path.join(this.#home, 'thread-writer-locks'), this.#home]);
    let directory = path.join(this.#home, 'sessions');
    for (let depth = 0; depth < 4; depth += 1) {
      wanted.add(directory);
      const newest = newestChild(directory);
      if (newest === null) break;
      directory = newest;
    }
    for (const [watched, watcher] of this.#watchers) {
      if (wanted.has(watched)) continue;
      watcher.close();
      this.#watchers.delete(watched);
    }
    for (const each of wanted) this.#watchDirectory(each);
  }

  #watchDirectory(directory: string): void {
    if (this.#watchers.has(directory)) return;
    try {
      const watcher = fs.watch(directory, { persistent: false }, (kind, name) => {
        // The home's own files change all the time; only its directories matter.
        if (directory === this.#home && name !== 'sessions' && name !== 'thread-writer-locks')
          return;
        if (kind === 'rename') this.#wake();
      });
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(directory);
      });
      this.#watchers.set(directory, watcher);
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.#request.logger.warn({ failure: String(failure) }, 'directory not watched');
      }
    }
  }
}

function newestChild(directory: string): string | null {
  try {
    const names = fs.readdirSync(directory).filter((name) => /^\d+$/u.test(name));
    const newest = names.sort().at(-1);
    return newest === undefined ? null : path.join(directory, newest);
  } catch {
    return null;
  }
}

/** /proc tells real paths; a home reached by a link has to be compared as such. */
function realPath(directory: string): string {
  try {
    return fs.realpathSync(directory);
  } catch {
    return directory;
  }
}
