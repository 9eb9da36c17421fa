import type {
  BodyVerdict,
  EngineEvent,
  EngineReader,
  PreparedBody,
  Reading,
  ReadingSignal,
} from '@ostler/engines';
import { type Clock, CodedError, type Logger, silentLogger, type Timer } from '@ostler/runtime';
import type { ScreenSnapshot, WriteOutcome } from '@ostler/terminal';
import { type ControlPen, ControlRight } from './control-right.js';
import { type EnterMark, observeReading, queuedCopies } from './draft-view.js';
import { inputEventOf } from './engine-input.js';
import { HeldTexts } from './held-texts.js';
import { type InputState, startInput, stepInput } from './input-machine.js';
import { type ControllerLimits, defaultLimits } from './limits.js';
import type { InputCommand, InputEvent, TimerName } from './machine-types.js';
import type { Observation } from './observation.js';
import { PersonKeys } from './person-keys.js';
import type { JournalPort, SessionListener, TerminalPort, WriteRight } from './ports.js';
import type { RestoredInput } from './restored.js';

export interface SessionControllerOptions {
  readonly terminal: TerminalPort;
  readonly reader: EngineReader;
  readonly journal: JournalPort;
  readonly listener: SessionListener;
  /** Signals from beside the screen, as of now. */
  readonly sideSignals?: () => readonly ReadingSignal[];
  readonly clock: Clock;
  readonly limits?: Partial<ControllerLimits>;
  /** What an earlier process dispatched into this session and nothing has settled, in its order. */
  readonly restored?: readonly RestoredInput[];
  /** Told what is about to be pasted, or taken back, before it is: kept outside this process, it survives it. */
  readonly keepNote?: (note: PastedNote) => void;
  readonly logger?: Logger;
}

/** The input whose text was pasted last. */
export interface PastedNote {
  readonly deliveryId: string;
  readonly text: string;
  /** It was seen whole in the composer, no Enter was pressed, and it is about to be taken out again. */
  readonly reclaiming: boolean;
}

export type SubmitVerdict =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/** Looks while nothing of ours is under way, for status and questions, are at least this far apart. */
const idleLookIntervalMs = 100;

/**
 * One session's keyboard. Feeds what happens into the input machine and carries
 * out its commands: it looks, journals, writes and reports, and decides nothing.
 */
export class SessionController implements Disposable {
  readonly #options: SessionControllerOptions;
  readonly #limits: ControllerLimits;
  readonly #logger: Logger;
  readonly #texts: HeldTexts;
  readonly #person: PersonKeys;
  readonly #timers = new Map<TimerName, Timer>();
  readonly #inbox: InputEvent[] = [];
  readonly #control: ControlRight;
  readonly #subscription: Disposable;
  #state: InputState;
  #draining = false;
  #ended = false;
  #right: WriteRight | null = null;
  #snapshot: ScreenSnapshot;
  #mark: EnterMark | null = null;
  #queuedBeforeEnter = 0;
  /** The text pasted last; once accepted it may still stand in the composer for a moment. */
  #lastPasted: PreparedBody | null = null;
  #wantedLook = 0;
  #busyAtMs = Number.NEGATIVE_INFINITY;
  #looking = false;
  #idleLook: Timer | null = null;

  /** Resolves once the session has been looked at for the first time. */
  static async open(options: SessionControllerOptions): Promise<SessionController> {
    return new SessionController(options, await options.terminal.look());
  }

  private constructor(options: SessionControllerOptions, snapshot: ScreenSnapshot) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#logger = options.logger ?? silentLogger;
    this.#snapshot = snapshot;
    const { clock, reader, terminal } = options;
    this.#texts = new HeldTexts({
      reader,
      clock,
      expiryMs: this.#limits.waitingExpiryMs,
      onExpired: (deliveryId) => this.#post({ type: 'EXPIRED', deliveryId }),
    });
    this.#person = new PersonKeys(clock, () => terminal.personWrites());
    this.#control = new ControlRight({
      terminal,
      clock,
      waitMs: this.#limits.controlWaitMs,
      read: (snapshot) => this.#read(snapshot),
      post: (event) => this.#post(event),
    });
    const restored = options.restored ?? [];
    const { state, commands } = startInput(
      this.#limits,
      {
        busyMode: reader.busyMode,
        awaitsTurnStart: reader.awaitsTurnStart === true,
      },
      restored,
    );
    this.#state = state;
    this.#texts.recall(restored.at(-1), snapshot);
    if (restored.at(-1)?.personTyped === true) this.#person.typedBeforeUs();
    for (const command of commands) this.#carryOut(command);
    this.#read(snapshot);
    this.#subscription = terminal.onChange(() => this.#screenChanged());
  }

  /** Inputs not yet settled here: waiting, active and dispatched without a seen end. */
  get depth(): {
    readonly waiting: number;
    readonly inTransaction: boolean;
    readonly unresolved: number;
  } {
    const { queue, active, outstanding } = this.#state.context;
    return {
      waiting: queue.length + (active && active.mode === null ? 1 : 0),
      inTransaction: active !== null && active.mode !== null && active.doubt === null,
      unresolved: outstanding.length,
    };
  }

  /** The machine's state by name; for people and tests. */
  get phase(): string {
    return String(this.#state.value);
  }

  /**
   * Takes a reserved input. A refusal is final and nothing has been written; otherwise
   * every later word on it comes through the listener.
   */
  submit(deliveryId: string, text: string): SubmitVerdict {
    const body = this.#texts.hold(deliveryId, text, this.#snapshot);
    if (body.kind === 'refused') return body;
    const fingerprint = this.#options.reader.fingerprint(body.body.text);
    const bytes = new TextEncoder().encode(text).byteLength;
    this.#post({ type: 'SUBMIT', input: { deliveryId, fingerprint, bytes } });
    return { kind: 'taken' };
  }

  /** Before the first byte this ends the input as cancelled; afterwards at most its Enter is withheld. */
  cancel(deliveryId: string): void {
    this.#post({ type: 'CANCEL', deliveryId });
  }

  /** A person's word on an input in doubt; lifts its barrier. */
  resolve(deliveryId: string, outcome: 'submitted' | 'not_submitted' | 'unknown'): void {
    this.#post({ type: 'RESOLVE', deliveryId, outcome });
  }

  /**
   * What the engine's record, hooks and doors say. `creditedTo`: the delivery that an earlier
   * process has seen to be the consumed input.
   */
  engineEvent(event: EngineEvent, creditedTo?: string): void {
    const { clock, reader } = this.#options;
    const input = inputEventOf(event, {
      fingerprint: (text) => reader.fingerprint(text),
      nowMs: clock.monotonicMs(),
      creditedTo,
    });
    if (input) this.#post(input);
    if (event.kind === 'record_rotated' || event.kind === 'signals_changed') this.#screenChanged();
  }

  /**
   * Runs `use` with the control right: no input is typed meanwhile, and it starts only
   * when none is being typed. Throws CodedError CONTROL_BUSY when that takes too long,
   * AGENT_GONE when the session has ended.
   */
  async withControl<Result>(use: (pen: ControlPen) => Promise<Result>): Promise<Result> {
    if (this.#ended) throw new CodedError('AGENT_GONE', 'the agent has ended');
    return await this.#control.use(use);
  }

  /** The child ended: what was not dispatched is rejected, what was is unknown. */
  processExited(): void {
    this.#post({ type: 'GONE' });
  }

  /** Stops here and says nothing of what is under way: the agent lives on, and another process goes on from the store. */
  abandon(): void {
    this.#ended = true;
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#post({ type: 'GONE' });
    this.#subscription[Symbol.dispose]();
    this.#idleLook?.[Symbol.dispose]();
    this.#texts[Symbol.dispose]();
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  #post(event: InputEvent): void {
    if (this.#ended) return;
    this.#inbox.push(event);
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let next = this.#inbox.shift(); next && !this.#ended; next = this.#inbox.shift()) {
        const { state, commands } = stepInput(this.#state, next);
        this.#state = state;
        for (const command of commands) this.#carryOut(command);
        if (next.type === 'GONE') this.#ended = true;
      }
    } finally {
      this.#draining = false;
    }
  }

  #carryOut(command: InputCommand): void {
    const { listener, reader, terminal } = this.#options;
    switch (command.type) {
      case 'takeLease':
        this.#right ??= terminal.acquire();
        break;
      case 'releaseLease':
        if (this.#right) terminal.release(this.#right);
        this.#right = null;
        break;
      case 'look':
        this.#look();
        break;
      case 'journal':
        this.#journal(command.params.deliveryId, command.params.mode);
        break;
      case 'paste': {
        const body = this.#bodyOf(command.params.deliveryId);
        this.#mark = null;
        this.#queuedBeforeEnter = 0;
        this.#person.pasteBegins();
        if (body?.kind !== 'ready') throw new TypeError('a paste without a prepared body');
        this.#lastPasted = body.body;
        this.#keepNote(command.params.deliveryId, false);
        this.#write(command.params.deliveryId, 'paste', (right) =>
          terminal.paste(right, body.body.frames),
        );
        break;
      }
      case 'enter': {
        this.#mark = {
          bytesParsed: this.#snapshot.bytesParsed,
          queuedCopies: this.#queuedBeforeEnter,
        };
        this.#write(command.params.deliveryId, 'enter', (right) => terminal.press(right, '\r'));
        break;
      }
      case 'reclaim':
        this.#reclaim(command.params.deliveryId);
        break;
      case 'grantControl':
        this.#control.granted();
        break;
      case 'forget':
        this.#texts.forget(command.params.deliveryId);
        break;
      case 'startTimer': {
        const { name, delayMs } = command.params;
        this.#timers.get(name)?.[Symbol.dispose]();
        this.#timers.set(
          name,
          this.#options.clock.setTimer(delayMs, () => this.#post({ type: 'TIMER', name })),
        );
        break;
      }
      case 'stopTimer':
        this.#timers.get(command.params.name)?.[Symbol.dispose]();
        break;
      case 'report': {
        const { deliveryId, change } = command.params;
        listener.receiptChanged(deliveryId, change);
        break;
      }
      case 'endTurn':
        listener.turnEnded(command.params.end, command.params.deliveries);
        break;
      default:
        return unreachable(command, reader.engine);
    }
  }

  #journal(deliveryId: string, mode: Parameters<JournalPort['dispatched']>[1]): void {
    const pastedAtMs = this.#options.clock.nowMs();
    const { active } = this.#state.context;
    try {
      this.#options.journal.dispatched(deliveryId, mode, active?.fingerprint ?? '', pastedAtMs);
    } catch (failure) {
      this.#logger.error({ deliveryId, failure }, 'a dispatch could not be journalled');
      const message = failure instanceof Error ? failure.message : String(failure);
      this.#post({ type: 'JOURNAL_FAILED', message });
      return;
    }
    this.#texts.stopExpiry(deliveryId);
    const twinTouched = this.#person.rememberText(active?.fingerprint ?? '');
    this.#post({ type: 'JOURNALLED', pastedAtMs, twinTouched });
  }

  #write(
    deliveryId: string,
    what: 'paste' | 'enter',
    write: (right: WriteRight) => Promise<WriteOutcome>,
  ): void {
    const right = this.#right;
    if (!right) throw new TypeError('a write without the lease');
    try {
      this.#options.journal.step(deliveryId, `${what}_begun`);
    } catch (failure) {
      this.#logger.error(
        { deliveryId, failure },
        'a step could not be journalled; nothing was written',
      );
      this.#post({ type: 'WRITTEN', outcome: 'nothing_written' });
      return;
    }
    void write(right).then(
      (outcome) => this.#written(deliveryId, what, outcome),
      (failure: unknown) =>
        this.#written(deliveryId, what, { kind: 'ambiguous', reason: String(failure) }),
    );
  }

  #written(deliveryId: string, what: 'paste' | 'enter', outcome: WriteOutcome): void {
    if (outcome.kind === 'carried_out') {
      try {
        this.#options.journal.step(deliveryId, `${what}_written`);
      } catch (failure) {
        this.#logger.warn({ deliveryId, failure }, 'a written step could not be journalled');
      }
    } else {
      this.#logger.warn({ deliveryId, what, reason: outcome.reason }, 'a terminal write failed');
    }
    this.#post({ type: 'WRITTEN', outcome: outcome.kind });
  }

  #reclaim(deliveryId: string): void {
    const body = this.#bodyOf(deliveryId);
    const right = this.#right;
    const reading = this.#read(this.#snapshot);
    const keys =
      body?.kind === 'ready'
        ? (this.#options.reader.eraseKeys?.(reading, body.body, this.#snapshot) ?? null)
        : null;
    if (!right || keys === null || this.#person.typedSincePaste) {
      this.#post({ type: 'WRITTEN', outcome: 'nothing_written' });
      return;
    }
    this.#keepNote(deliveryId, true);
    void this.#options.terminal.press(right, keys).then(
      (outcome) => this.#post({ type: 'WRITTEN', outcome: outcome.kind }),
      () => this.#post({ type: 'WRITTEN', outcome: 'ambiguous' }),
    );
  }

  #screenChanged(): void {
    if (this.#ended) return;
    const phase = this.phase;
    if (phase === 'idle' || phase === 'controlled') {
      this.#control.screenChanged();
      if (this.#idleLook?.active) return;
      this.#idleLook = this.#options.clock.setTimer(idleLookIntervalMs, () => this.#look());
      return;
    }
    this.#post({ type: 'WAKE' });
  }

  /** At most one look is under way; one asked for meanwhile is taken after it. */
  #look(): void {
    this.#wantedLook += 1;
    if (!this.#looking) void this.#lookUntilCurrent();
  }

  /** A look taken for a moment that has passed is not handed to the machine. */
  async #lookUntilCurrent(): Promise<void> {
    this.#looking = true;
    try {
      for (let taken = -1; taken !== this.#wantedLook && !this.#ended; ) {
        taken = this.#wantedLook;
        const moment = this.#moment();
        const snapshot = await this.#options.terminal.look();
        if (this.#ended) return;
        const reading = this.#read(snapshot);
        if (this.#moment() !== moment) continue;
        this.#post({ type: 'LOOKED', seen: this.#observe(snapshot, reading) });
      }
    } catch (failure) {
      this.#logger.error({ failure }, 'a look failed; the session waits for the next change');
    } finally {
      this.#looking = false;
    }
  }

  #moment(): string {
    const { active } = this.#state.context;
    return `${this.phase} ${active?.deliveryId ?? ''} ${active?.enters ?? 0}`;
  }

  #read(snapshot: ScreenSnapshot): Reading {
    this.#snapshot = snapshot;
    const reading = this.#options.reader.read(snapshot, this.#options.sideSignals?.() ?? []);
    if (reading.busy) this.#busyAtMs = this.#options.clock.monotonicMs();
    this.#options.listener.read(reading, snapshot);
    return reading;
  }

  #observe(snapshot: ScreenSnapshot, reading: Reading): Observation {
    const { active } = this.#state.context;
    const body = active ? this.#bodyOf(active.deliveryId) : null;
    if (active?.enters === 0 && body?.kind === 'ready') {
      this.#queuedBeforeEnter = queuedCopies(reading.queue, body.body.text);
    }
    const accepted = active?.mode === null ? this.#lastPasted : null;
    return observeReading(this.#options.reader, snapshot, reading, body, accepted, this.#mark, {
      // Asked for before the dispatch; from then on the exit itself is what counts.
      alive: active?.mode !== null || this.#options.terminal.isSameProcessAlive(),
      busyAtMs: this.#busyAtMs,
      personTyped: this.#person.typedSincePaste,
      personTypedAgoMs: this.#person.typedAgoMs(),
      atMs: this.#options.clock.monotonicMs(),
      nowMs: this.#options.clock.nowMs(),
    });
  }

  #bodyOf(deliveryId: string): BodyVerdict | null {
    const isDispatched = this.#state.context.active?.mode !== null;
    return this.#texts.bodyOf(deliveryId, this.#snapshot, isDispatched);
  }

  /** For the process that comes after this one, should it die before the transaction ends. */
  #keepNote(deliveryId: string, reclaiming: boolean): void {
    const text = this.#texts.textOf(deliveryId);
    if (text !== null) this.#options.keepNote?.({ deliveryId, text, reclaiming });
  }
}

function unreachable(command: never, engine: string): never {
  throw new TypeError(`no adapter for ${JSON.stringify(command)} (${engine})`);
}
