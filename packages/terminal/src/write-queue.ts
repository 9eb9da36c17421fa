import type { Clock, Timer } from '@ostler/runtime';
import type { WriteGate, WriteOutcome } from './pty-endpoint.js';

/** Where bytes leave this process: how many were taken, that none fit now, or why none ever will. */
export interface WriteSink {
  take(data: Uint8Array): number | 'full' | { readonly failed: string };
}

export interface WriteQueueLimits {
  /** Bytes accepted and not yet taken by the sink. A write that goes over is refused whole. */
  readonly maxPendingWriteBytes: number;
  /** How long the sink may take nothing before the waiting writes are given up. */
  readonly writeStallMs: number;
}

interface Task {
  readonly data: Uint8Array;
  readonly mayWrite: WriteGate | undefined;
  readonly settle: (outcome: WriteOutcome) => void;
  offset: number;
}

const firstRetryMs = 1;
const maxRetryMs = 32;

/**
 * Writes whole buffers one after the other into a sink that takes them in parts.
 *
 * Node has no event for "a terminal has room again" that still tells how much of a
 * write went through, so a full sink is tried again after 1, 2, 4 … 32 ms, and at
 * once when `wake` says that the other side is doing something.
 */
export class WriteQueue {
  readonly #sink: WriteSink;
  readonly #clock: Clock;
  readonly #limits: WriteQueueLimits;
  readonly #tasks: Task[] = [];
  #pendingBytes = 0;
  #retry: Timer | undefined;
  #retryMs = firstRetryMs;
  #stalledSinceMs: number | undefined;
  #closed: string | undefined;

  constructor(sink: WriteSink, clock: Clock, limits: WriteQueueLimits) {
    this.#sink = sink;
    this.#clock = clock;
    this.#limits = limits;
  }

  write(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome> {
    if (this.#closed !== undefined)
      return Promise.resolve({ kind: 'nothing_written', reason: this.#closed });
    if (this.#pendingBytes + data.length > this.#limits.maxPendingWriteBytes)
      return Promise.resolve({ kind: 'nothing_written', reason: 'pending_limit' });
    return new Promise((settle) => {
      this.#tasks.push({ data, mayWrite, settle, offset: 0 });
      this.#pendingBytes += data.length;
      if (this.#tasks.length === 1) this.#pump();
    });
  }

  /** Tries a full sink again now. */
  wake(): void {
    if (this.#retry) this.#pump();
  }

  /** Ends every waiting write with `reason`, and every later one. */
  close(reason: string): void {
    this.#closed ??= reason;
    this.#giveUp(reason);
  }

  #pump(): void {
    this.#retry?.[Symbol.dispose]();
    this.#retry = undefined;
    for (let task = this.#tasks[0]; task; task = this.#tasks[0]) {
      if (task.mayWrite?.() === false) {
        this.#finish(undone(task, 'stale_token'));
        continue;
      }
      if (task.offset === task.data.length) {
        this.#finish({ kind: 'carried_out' });
        continue;
      }
      const taken = this.#sink.take(task.data.subarray(task.offset));
      if (typeof taken === 'object') {
        this.#giveUp(taken.failed);
        return;
      }
      if (taken === 'full' || taken === 0) {
        this.#wait();
        return;
      }
      this.#stalledSinceMs = undefined;
      this.#retryMs = firstRetryMs;
      this.#pendingBytes -= taken;
      task.offset += taken;
      if (task.offset === task.data.length) this.#finish({ kind: 'carried_out' });
    }
    this.#stalledSinceMs = undefined;
  }

  #wait(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#stalledSinceMs ??= nowMs;
    if (nowMs - this.#stalledSinceMs >= this.#limits.writeStallMs) {
      this.#giveUp('write_stalled');
      return;
    }
    this.#retry = this.#clock.setTimer(this.#retryMs, () => this.#pump());
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs);
  }

  #giveUp(reason: string): void {
    this.#retry?.[Symbol.dispose]();
    this.#retry = undefined;
    this.#stalledSinceMs = undefined;
    this.#retryMs = firstRetryMs;
    const given = this.#tasks.splice(0);
    this.#pendingBytes = 0;
    for (const task of given) task.settle(undone(task, reason));
  }

  #finish(outcome: WriteOutcome): void {
    const task = this.#tasks.shift();
    if (!task) return;
    this.#pendingBytes -= task.data.length - task.offset;
    task.settle(outcome);
  }
}

function undone(task: Task, reason: string): WriteOutcome {
  return task.offset === 0 ? { kind: 'nothing_written', reason } : { kind: 'ambiguous', reason };
}
