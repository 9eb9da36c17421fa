import type { SessionTerminal } from '@ostler/service';
import {
  GuardedWriter,
  type LeaseToken,
  type PersonInputOutcome,
  type ProcessExit,
  type ProcessIdentity,
  pasteStart,
  type WriteGate,
  type WriteOutcome,
} from '@ostler/terminal';
import type { ModelEngine } from './model-engine.js';
import { eraseKey } from './model-reader.js';
import type { Moment, RangeMs, WriteFault } from './plan.js';
import type { Chance } from './random.js';
import type { ProcessClock } from './sim-clock.js';
import { type ModelSnapshot, type View } from './view.js';
import type { Sent } from './witness.js';

/** A guarded write at the instant its bytes leave. */
export interface Leaving {
  readonly serial: number;
  readonly data: string;
  /** The token it was asked for under, and the newest one given out by now. */
  readonly token: number | null;
  readonly newestToken: number | null;
  /** When it was asked for: the look last handed out, and what had arrived. */
  readonly arrived: View;
  readonly look: { readonly view: View; readonly order: number } | null;
  readonly order: number;
}

export interface TerminalWatch {
  /** Orders looks and writes of the whole world. */
  nextOrder(): number;
  leaving(leaving: Leaving): void;
  /** What became of a guarded write, as we are told it. */
  answered(serial: number, outcome: WriteOutcome['kind']): void;
  moment(moment: Moment): void;
  touched(): void;
  note(text: () => string): void;
}

interface TerminalParts {
  readonly engine: ModelEngine;
  readonly clock: ProcessClock;
  readonly chance: Chance;
  readonly lookMs: RangeMs;
  readonly writeMs: RangeMs;
  readonly watch: TerminalWatch;
  readonly pid: number;
  readonly serial: () => number;
  readonly isCalm: () => boolean;
}

const decoder = new TextDecoder();

/** The real guarded writer, told apart by the tokens it was asked under. */
class WatchedWriter extends GuardedWriter {
  newest: LeaseToken | null = null;
  asked: LeaseToken | null = null;
  held = false;

  override acquire(): LeaseToken {
    this.newest = super.acquire();
    this.held = true;
    return this.newest;
  }

  override release(token: LeaseToken): void {
    if (token === this.newest) this.held = false;
    super.release(token);
  }

  override write(token: LeaseToken, data: string | Uint8Array): ReturnType<GuardedWriter['write']> {
    this.asked = token;
    const outcome = super.write(token, data);
    this.asked = null;
    return outcome;
  }

  override paste(token: LeaseToken, frames: readonly string[]): ReturnType<GuardedWriter['paste']> {
    this.asked = token;
    const outcome = super.paste(token, frames);
    this.asked = null;
    return outcome;
  }
}

/** One daemon's terminal on a model engine: bytes leave late, frames come late, and both may fail. */
export class SimTerminal implements SessionTerminal {
  readonly writer: WatchedWriter;
  readonly identity: ProcessIdentity;
  readonly rows = 24;
  readonly cast: undefined;
  exit: ProcessExit | null = null;
  cols = 80;
  nextFault: WriteFault | null = null;
  readonly #parts: TerminalParts;
  readonly #changes = new Set<(snapshot: ModelSnapshot) => void>();
  readonly #exits = new Set<(exit: ProcessExit) => void>();
  readonly #line: (() => void)[] = [];
  #writing = false;
  #view: View;
  #frames = 0;
  #look: { readonly view: View; readonly order: number } | null = null;
  #closed = false;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
    this.#view = parts.engine.view();
    this.identity = { pid: parts.pid, startTime: `${parts.pid}` };
    this.writer = new WatchedWriter({
      bracketedPaste: () => true,
      endpoint: { write: (data, mayWrite) => this.#write(decoder.decode(data), mayWrite) },
    });
    parts.engine.painter.output = (view) => this.#arrive(view);
  }

  isSameProcessAlive(): boolean {
    return this.#parts.engine.alive;
  }

  async look(): Promise<ModelSnapshot> {
    const { clock, watch } = this.#parts;
    watch.moment('look_asked');
    return await new Promise((resolve) => {
      clock.setTimer(this.#range(this.#parts.lookMs), () => {
        const snapshot = this.#snapshot();
        this.#look = { view: this.#view, order: watch.nextOrder() };
        watch.note(() => `look: ${describe(this.#view)}`);
        watch.touched();
        resolve(snapshot);
        watch.moment('look_given');
      });
    });
  }

  onChange(listener: (snapshot: ModelSnapshot) => void): Disposable {
    this.#changes.add(listener);
    return { [Symbol.dispose]: () => void this.#changes.delete(listener) };
  }

  onExit(listener: (exit: ProcessExit) => void): Disposable {
    this.#exits.add(listener);
    return { [Symbol.dispose]: () => void this.#exits.delete(listener) };
  }

  personInput(data: string | Uint8Array): PersonInputOutcome {
    this.#parts.watch.touched();
    return this.writer.personInput(data);
  }

  resize(cols: number, _rows: number): void {
    this.cols = cols;
    this.#parts.engine.painter.paint();
  }

  /** The child has ended, and we are told after a while. */
  ended(): void {
    const { clock } = this.#parts;
    clock.setTimer(this.#range(this.#parts.writeMs), () => {
      if (this.exit) return;
      this.exit = { exitCode: 0, signal: null, atMs: clock.nowMs() };
      this.#parts.watch.touched();
      for (const listener of [...this.#exits]) listener(this.exit);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#parts.engine.painter.output = null;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The daemon is gone: nothing of it moves any more. */
  crash(): void {
    this.#closed = true;
  }

  #arrive(view: View): void {
    if (this.#closed) return;
    const { watch } = this.#parts;
    this.#view = view;
    this.#frames += 1;
    watch.touched();
    if (this.#changes.size === 0) return;
    const snapshot = this.#snapshot();
    for (const listener of [...this.#changes]) listener(snapshot);
  }

  #snapshot(): ModelSnapshot {
    const { clock } = this.#parts;
    return {
      view: this.#view,
      revision: this.#frames,
      bytesParsed: this.#frames,
      atMs: clock.nowMs(),
      cols: this.cols,
      rows: [],
      cursor: { column: 0, row: 0 },
      modes: {
        bracketedPaste: true,
        alternateScreen: false,
        cursorVisible: false,
        synchronizedOutput: false,
      },
      signals: { title: null, programState: null },
    };
  }

  /** One write after the other, each whole before the next. */
  async #write(data: string, mayWrite?: WriteGate): Promise<WriteOutcome> {
    // Whoever writes under a lease has just been asked for the token; a person has none.
    const token = this.writer.asked;
    const { serial } = this.#parts;
    const sent: Sent = { serial: serial(), by: token === null ? 'person' : 'us', data };
    const known = { arrived: this.#view, look: this.#look };
    return await new Promise((resolve) => {
      this.#line.push(() => this.#send(sent, { ...known, token }, mayWrite, resolve));
      this.#advance();
    });
  }

  #advance(): void {
    if (this.#writing) return;
    const next = this.#line.shift();
    if (!next) return;
    this.#writing = true;
    this.#parts.clock.setTimer(this.#range(this.#parts.writeMs), next);
  }

  #send(
    sent: Sent,
    asked: Pick<Leaving, 'token' | 'arrived' | 'look'>,
    mayWrite: WriteGate | undefined,
    resolve: (outcome: WriteOutcome) => void,
  ): void {
    const { clock, engine, watch } = this.#parts;
    const ours = sent.by === 'us';
    const what = momentName(sent.data);
    const done = (outcome: WriteOutcome): void => {
      this.#writing = false;
      watch.note(() => `write ${sent.serial}: ${outcome.kind}`);
      if (ours) watch.answered(sent.serial, outcome.kind);
      watch.touched();
      resolve(outcome);
      if (ours && outcome.kind !== 'nothing_written' && what && what !== 'erase') {
        watch.moment(`${what}_left`);
      }
      this.#advance();
    };
    if (this.#closed) return;
    if (ours && what) watch.moment(`${what}_leaves`);
    if (this.#closed) return;
    if (mayWrite && !mayWrite()) return done({ kind: 'nothing_written', reason: 'stale_token' });
    if (!engine.alive) return done({ kind: 'nothing_written', reason: 'the child is gone' });
    engine.host.writesSince += 1;
    const fault = ours && !this.#parts.isCalm() ? this.nextFault : null;
    if (ours) this.nextFault = null;
    if (fault === 'nothing_written') return done({ kind: 'nothing_written', reason: 'planned' });
    if (ours) {
      watch.leaving({
        serial: sent.serial,
        data: sent.data,
        ...asked,
        newestToken: this.writer.held ? this.writer.newest : null,
        order: watch.nextOrder(),
      });
    } else {
      watch.note(() => `a person's keys leave: ${JSON.stringify(sent.data)}`);
    }
    if (fault !== 'ambiguous_lost') {
      const data = fault === 'ambiguous_cut' ? cut(sent.data) : sent.data;
      engine.input({ ...sent, data });
    }
    clock.setTimer(this.#range(this.#parts.writeMs), () =>
      done(fault ? { kind: 'ambiguous', reason: fault } : { kind: 'carried_out' }),
    );
  }

  #range([min, max]: RangeMs): number {
    return this.#parts.isCalm() ? min : this.#parts.chance.int(min, max);
  }
}

function momentName(data: string): 'paste' | 'enter' | 'erase' | null {
  if (data.startsWith(pasteStart)) return 'paste';
  if (data === '\r') return 'enter';
  return data === eraseKey ? 'erase' : null;
}

/** A part of a paste, its closing bracket not; an Enter is too short for that. */
function cut(data: string): string {
  return data.length > 12 ? data.slice(0, 6 + Math.ceil((data.length - 12) / 2)) : data;
}

export function describe(view: View): string {
  const parts = [
    view.readable ? '' : 'unreadable',
    view.hold ? `hold=${view.hold}` : '',
    view.draft === null ? 'no composer' : `draft=${JSON.stringify(view.draft)}`,
    view.busy ? 'busy' : '',
    view.queue.length > 0 ? `queue=${JSON.stringify(view.queue)}` : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
