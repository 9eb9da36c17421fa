import type { EngineReader, Reading } from '@ostler/engines';
import { VirtualClock } from '@ostler/runtime';
import type { ScreenSnapshot, WriteOutcome } from '@ostler/terminal';
import type { ControllerLimits } from '../limits.js';
import type { ReceiptChange } from '../machine-types.js';
import type { TerminalPort, WriteRight } from '../ports.js';
import { SessionController } from '../session-controller.js';

type Write = { readonly kind: 'paste' | 'keys'; readonly data: string; readonly fence: number };

/** An agent made of a draft, a busy flag and a dialog; every change is told at once. */
export class FakeAgent implements TerminalPort {
  draft = '';
  busy = false;
  hold: string | null = null;
  composer = true;
  readable = true;
  alive = true;
  queue: string[] = [];
  readonly received: string[] = [];
  readonly writes: Write[] = [];
  readonly answered: string[] = [];
  /** What the next writes do instead of working. */
  swallowEnters = 0;
  deafness: 'none' | 'paste' | 'enter' | 'erase' = 'none';
  outcome: WriteOutcome = { kind: 'carried_out' };
  beforePaste: (() => void) | null = null;
  afterPaste: (() => void) | null = null;
  bracketedPaste = true;
  personWritten = 0;
  stashed = false;
  #bytes = 0;
  #fence = 0;
  #leased = false;
  readonly #listeners = new Set<() => void>();

  change(change: () => void): void {
    change();
    this.#bytes += 1;
    for (const listener of [...this.#listeners]) listener();
  }

  async look(): Promise<ScreenSnapshot> {
    return {
      revision: this.#bytes,
      bytesParsed: this.#bytes,
      atMs: 0,
      cols: 80,
      rows: [],
      cursor: { column: 0, row: 0 },
      modes: {
        bracketedPaste: this.bracketedPaste,
        alternateScreen: false,
        cursorVisible: true,
        synchronizedOutput: false,
      },
      signals: { title: null, programState: null },
    };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  personWrites(): number {
    return this.personWritten;
  }

  isSameProcessAlive(): boolean {
    return this.alive;
  }

  get leased(): boolean {
    return this.#leased;
  }

  acquire(): WriteRight {
    if (this.#leased) throw new Error('two writers');
    this.#leased = true;
    this.#fence += 1;
    return { fence: this.#fence };
  }

  release(): void {
    this.#leased = false;
  }

  async paste(right: WriteRight, frames: readonly string[]): Promise<WriteOutcome> {
    this.#guard(right);
    const data = frames.join('');
    this.writes.push({ kind: 'paste', data, fence: right.fence });
    this.beforePaste?.();
    this.beforePaste = null;
    if (this.outcome.kind !== 'nothing_written' && this.deafness !== 'paste' && !this.hold) {
      this.change(() => {
        this.draft += data;
      });
    }
    this.afterPaste?.();
    this.afterPaste = null;
    return this.outcome;
  }

  async press(right: WriteRight, keys: string): Promise<WriteOutcome> {
    this.#guard(right);
    this.writes.push({ kind: 'keys', data: keys, fence: right.fence });
    if (keys === '\x15' && this.deafness !== 'erase') this.change(() => void (this.draft = ''));
    if (keys === '\r' && this.outcome.kind !== 'nothing_written') this.#enter();
    return this.outcome;
  }

  #enter(): void {
    if (this.hold) {
      const hold = this.hold;
      this.change(() => {
        this.answered.push(hold);
        this.hold = null;
      });
      return;
    }
    if (this.deafness === 'enter') return;
    if (this.swallowEnters > 0) {
      this.swallowEnters -= 1;
      this.change(() => undefined);
      return;
    }
    this.change(() => {
      if (this.draft !== '') this.received.push(this.draft);
      this.draft = '';
      this.busy = true;
    });
  }

  #guard(right: WriteRight): void {
    if (!this.#leased || right.fence !== this.#fence)
      throw new Error('a stale token reached the terminal');
  }

  reading(): Reading {
    const composer = {
      draft: this.draft,
      rows: this.draft.split('\n'),
      ghost: null,
      collapsed: [],
      hiddenRows: { above: 0, below: 0 },
    };
    return {
      readable: this.readable,
      composer: this.composer && !this.hold ? composer : null,
      hold: this.hold,
      busy: this.busy,
      queue: this.queue,
      question: null,
      signals: this.stashed ? [{ source: 'stash', value: 'draft stashed', atMs: 0 }] : [],
    };
  }
}

export function fakeReader(
  agent: FakeAgent,
  busyMode: EngineReader['busyMode'],
  awaitsTurnStart: boolean,
): EngineReader {
  return {
    engine: 'fake',
    version: '1',
    busyMode,
    awaitsTurnStart,
    read: () => agent.reading(),
    prepareBody: (text) =>
      text.startsWith('/')
        ? { kind: 'refused', reason: 'slash_command', message: 'it would run' }
        : { kind: 'ready', body: { frames: [text], text } },
    matchDraft: (reading, body) => {
      const draft = reading.composer?.draft ?? '';
      if (draft === '') return 'empty';
      if (draft === body.text) return 'exact';
      return body.text.startsWith(draft) ? 'partial' : 'other';
    },
    fingerprint: (text) => text.trim(),
    stopKeys: (reading) => (reading.busy ? '\x1b' : null),
    eraseKeys: () => '\x15',
    planAnswer: () => ({ kind: 'refused', reason: 'none', message: 'none' }),
  };
}

export interface Rig {
  readonly agent: FakeAgent;
  readonly clock: VirtualClock;
  readonly session: SessionController;
  /** Every change of every receipt, in order. */
  readonly reports: { readonly deliveryId: string; readonly change: ReceiptChange }[];
  readonly journal: string[];
  /** The last word on each field of one receipt. */
  readonly receipt: (deliveryId: string) => ReceiptChange;
  /** Lets everything that is ready happen. */
  readonly settle: () => Promise<void>;
  readonly wallMs: () => number;
}

export async function rig(
  options: {
    busyMode?: EngineReader['busyMode'];
    awaitsTurnStart?: boolean;
    limits?: Partial<ControllerLimits>;
    failJournal?: () => boolean;
  } = {},
): Promise<Rig> {
  const agent = new FakeAgent();
  const clock = new VirtualClock();
  const reports: Rig['reports'] = [];
  const journal: string[] = [];
  const session = await SessionController.open({
    terminal: agent,
    reader: fakeReader(agent, options.busyMode ?? 'steering', options.awaitsTurnStart ?? false),
    clock,
    ...(options.limits ? { limits: options.limits } : {}),
    journal: {
      dispatched: (deliveryId, mode) => {
        if (options.failJournal?.()) throw new Error('disk full');
        journal.push(`${deliveryId} ${mode}`);
      },
      step: (deliveryId, step) => void journal.push(`${deliveryId} ${step}`),
    },
    listener: {
      receiptChanged: (deliveryId, change) => void reports.push({ deliveryId, change }),
      turnEnded: (_, deliveries) => {
        for (const { deliveryId, change } of deliveries) reports.push({ deliveryId, change });
      },
      read: () => undefined,
    },
  });
  return {
    agent,
    clock,
    session,
    reports,
    journal,
    receipt: (deliveryId) =>
      reports
        .filter((report) => report.deliveryId === deliveryId)
        .reduce<ReceiptChange>((sum, { change }) => ({ ...sum, ...change }), {}),
    settle: async () => {
      for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
    },
    wallMs: () => clock.nowMs(),
  };
}
