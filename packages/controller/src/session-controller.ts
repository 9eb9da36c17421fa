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
import { type InputState, startInput, stepInput } from './input-machine.js';
import { type ControllerLimits, defaultLimits } from './limits.js';
import type { InputCommand, InputEvent, TimerName } from './machine-types.js';
import type { Observation } from './observation.js';
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
  /** Told what is about to be pasted, before it is: kept outside this process, it survives it. */
  readonly keepNote?: (note: PastedNote) => void;
  readonly logger?: Logger;
}

/** The input whose text was pasted last. */
export interface PastedNote {
  readonly deliveryId: string;
  readonly text: string;
}

export type SubmitVerdict =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

interface HeldText {
  readonly text: string;
  readonly expiry: Timer;
  body: BodyVerdict;
  preparedFor: string;
}

/** How long a person's keys may take until the engine has read and shown them. */
const personSettlesMs = 10_000;
const maxRememberedTexts = 256;

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
  readonly #texts = new Map<string, HeldText>();
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
  /** A person's writes before the paste under way. */
  #personWritesBefore = 0;
  /** The text pasted last; once accepted it may still stand in the composer for a moment. */
  #lastPasted: PreparedBody | null = null;
  /** Texts pasted before, by fingerprint, the newest last. */
  readonly #pasted = new Set<string>();
  #personSeen = { writes: 0, atMs: Number.NEGATIVE_INFINITY };
  #wantedLook = 0;
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
    this.#control = new ControlRight({
      terminal: options.terminal,
      clock: options.clock,
      waitMs: this.#limits.controlWaitMs,
      read: (snapshot) => this.#read(snapshot),
      post: (event) => this.#post(event),
    });
    const restored = options.restored ?? [];
    const { state, commands } = startInput(
      this.#limits,
      {
        busyMode: options.reader.busyMode,
        awaitsTurnStart: options.reader.awaitsTurnStart === true,
      },
      restored,
    );
    this.#state = state;
    this.#recallText(restored.at(-1));
    for (const command of commands) this.#carryOut(command);
    this.#read(snapshot);
    this.#subscription = options.terminal.onChange(() => this.#screenChanged());
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
    const body = this.#options.reader.prepareBody(text, this.#snapshot);
    if (body.kind === 'refused') return body;
    const expiry = this.#options.clock.setTimer(this.#limits.waitingExpiryMs, () =>
      this.#post({ type: 'EXPIRED', deliveryId }),
    );
    this.#texts.set(deliveryId, { text, body, expiry, preparedFor: sizeOf(this.#snapshot) });
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
    const nowMs = this.#options.clock.monotonicMs();
    switch (event.kind) {
      case 'input_accepted':
      case 'input_consumed': {
        const { evidence, inputRef, atMs } = event;
        const kind = event.kind === 'input_consumed' ? 'consumed' : 'accepted';
        const turnRef = event.kind === 'input_consumed' ? event.turnRef : null;
        const fingerprint = this.#options.reader.fingerprint(event.text);
        const seen = { kind, fingerprint, evidence, inputRef, turnRef, atMs } as const;
        const known = creditedTo === undefined ? seen : { ...seen, deliveryId: creditedTo };
        this.#post({ type: 'EVIDENCE', seen: known, nowMs });
        break;
      }
      case 'input_withdrawn':
        this.#post({
          type: 'WITHDRAWN',
          fingerprint: event.text === null ? null : this.#options.reader.fingerprint(event.text),
          atMs: event.atMs,
        });
        break;
      case 'turn_started':
        this.#post({ type: 'TURN_STARTED', nowMs });
        break;
      case 'turn_ended':
        this.#post({ type: 'TURN_ENDED', end: event });
        break;
      case 'inputs_untied':
        this.#post({ type: 'UNTIED', inputRefs: event.inputRefs });
        break;
      case 'turn_text':
      case 'turn_tool':
        break;
      case 'record_rotated':
      case 'signals_changed':
        this.#screenChanged();
        break;
    }
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
    for (const { expiry } of this.#texts.values()) expiry[Symbol.dispose]();
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#texts.clear();
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
        this.#personWritesBefore = terminal.personWrites();
        if (body?.kind !== 'ready') throw new TypeError('a paste without a prepared body');
        this.#lastPasted = body.body;
        this.#keepNote(command.params.deliveryId);
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
        this.#forget(command.params.deliveryId);
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
    this.#texts.get(deliveryId)?.expiry[Symbol.dispose]();
    const fingerprint = active?.fingerprint ?? '';
    const twinTouched = this.#pasted.has(fingerprint) && this.#personTypedAgoMs() < personSettlesMs;
    this.#pasted.delete(fingerprint);
    this.#pasted.add(fingerprint);
    const [oldest] = this.#pasted;
    if (this.#pasted.size > maxRememberedTexts && oldest !== undefined) this.#pasted.delete(oldest);
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
    if (!right || keys === null || this.#personTyped) {
      this.#post({ type: 'WRITTEN', outcome: 'nothing_written' });
      return;
    }
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

  /** Counted from when it was noticed; each look notices. */
  #personTypedAgoMs(): number {
    const nowMs = this.#options.clock.monotonicMs();
    const writes = this.#options.terminal.personWrites();
    if (writes !== this.#personSeen.writes) this.#personSeen = { writes, atMs: nowMs };
    return nowMs - this.#personSeen.atMs;
  }

  get #personTyped(): boolean {
    return this.#options.terminal.personWrites() > this.#personWritesBefore;
  }

  #moment(): string {
    const { active } = this.#state.context;
    return `${this.phase} ${active?.deliveryId ?? ''} ${active?.enters ?? 0}`;
  }

  #read(snapshot: ScreenSnapshot): Reading {
    this.#snapshot = snapshot;
    const reading = this.#options.reader.read(snapshot, this.#options.sideSignals?.() ?? []);
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
      personTyped: this.#personTyped,
      personTypedAgoMs: this.#personTypedAgoMs(),
      atMs: this.#options.clock.monotonicMs(),
      nowMs: this.#options.clock.nowMs(),
    });
  }

  /** The text made safe for the screen as it is; once the dispatch is on its way it stays as it was. */
  #bodyOf(deliveryId: string): BodyVerdict | null {
    const held = this.#texts.get(deliveryId);
    if (!held) return null;
    const { active } = this.#state.context;
    const size = sizeOf(this.#snapshot);
    if (held.preparedFor !== size && active?.mode === null) {
      held.body = this.#options.reader.prepareBody(held.text, this.#snapshot);
      held.preparedFor = size;
    }
    return held.body;
  }

  /** The text of the input an earlier process left in doubt: what stands in the composer may be it. */
  #recallText(input: RestoredInput | undefined): void {
    if (!input || input.accepted || input.text === null) return;
    const body = this.#options.reader.prepareBody(input.text, this.#snapshot);
    const expiry = { active: false, [Symbol.dispose]: () => undefined };
    const preparedFor = sizeOf(this.#snapshot);
    this.#texts.set(input.deliveryId, { text: input.text, body, expiry, preparedFor });
  }

  /** For the process that comes after this one, should it die before the transaction ends. */
  #keepNote(deliveryId: string): void {
    const text = this.#texts.get(deliveryId)?.text;
    if (text !== undefined) this.#options.keepNote?.({ deliveryId, text });
  }

  #forget(deliveryId: string): void {
    this.#texts.get(deliveryId)?.expiry[Symbol.dispose]();
    this.#texts.delete(deliveryId);
  }
}

const sizeOf = (snapshot: ScreenSnapshot): string =>
  `${snapshot.cols}x${snapshot.rows.length}${snapshot.modes.bracketedPaste ? '+' : '-'}`;

function unreachable(command: never, engine: string): never {
  throw new TypeError(`no adapter for ${JSON.stringify(command)} (${engine})`);
}
