import {
  type ControllerLimits,
  type EndedDelivery,
  type PastedNote,
  type ReceiptChange as InputChange,
  type RestoredInput,
  SessionController,
  type TurnEnd,
} from '@ostler/controller';
import {
  type Engine,
  type EngineEvent,
  type EngineObserver,
  type EngineReader,
  type LaunchPlan,
  type LaunchRequest,
  type Reading,
  type ReadingSignal,
  unreadable,
} from '@ostler/engines';
import type {
  AgentEngineSession,
  AgentSummary,
  EngineCertificate,
  RecapTurn,
} from '@ostler/protocol';
import { type Clock, Disposables, type Ids, type Logger } from '@ostler/runtime';
import type { AgentTerminal, ProcessExit, ScreenSnapshot } from '@ostler/terminal';
import { keysAtTurnEnd } from './keys-at-turn-end.js';
import { QuestionTracker, type TrackedQuestion } from './open-question.js';
import { ReadBefore } from './read-before.js';
import { Recap } from './recap.js';
import { type ReceiptsLedger, storedChange } from './receipts-ledger.js';
import { AgentStreams, type StreamMessage } from './streams.js';
import { terminalPort } from './terminal-port.js';
import { Turns } from './turns.js';

/** How long who asks for an engine's session waits for its files to be read. */
const sessionLookMs = 1_000;

/** What a session needs of a terminal. */
export type SessionTerminal = Pick<
  AgentTerminal,
  | 'writer'
  | 'identity'
  | 'cols'
  | 'rows'
  | 'exit'
  | 'isSameProcessAlive'
  | 'look'
  | 'onChange'
  | 'onExit'
  | 'personInput'
  | 'resize'
  | 'close'
> &
  AsyncDisposable &
  Partial<Pick<AgentTerminal, 'cast' | 'release' | 'onOutput' | 'paint'>>;

export interface AgentSessionOptions {
  readonly agentId: string;
  readonly name: string;
  readonly machineId: string;
  readonly engine: Engine;
  readonly plan: LaunchPlan;
  readonly request: LaunchRequest;
  readonly terminal: SessionTerminal;
  readonly launchedAtMs: number;
  readonly ledger: ReceiptsLedger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: Partial<ControllerLimits>;
  /** The summary changed: state, hold or queue. */
  readonly onChanged: () => void;
  /** Inputs an earlier process dispatched into this very terminal. */
  readonly restored?: readonly RestoredInput[];
  readonly keepNote?: (note: PastedNote) => void;
  /** Everything of the session has been released. */
  readonly onClosed: () => void;
}

/** What a dispatch begins with. */
const firstStep = 'paste_begun';

export type AgentState = 'starting' | 'idle' | 'busy' | 'held' | 'gone';

/** One launched agent: its terminal, what its engine says of it, and the controller that types. */
export class AgentSession implements AsyncDisposable {
  readonly agentId: string;
  readonly name: string;
  readonly engine: string;
  readonly version: string | null;
  readonly terminal: SessionTerminal;
  readonly reader: EngineReader;
  readonly #options: AgentSessionOptions;
  readonly #owned = new Disposables();
  readonly #streams: AgentStreams;
  readonly #recap = new Recap();
  readonly #readBefore: ReadBefore;
  readonly #questions: QuestionTracker;
  readonly #turns: Turns;
  #controller: SessionController | null = null;
  #reading: Reading = unreadable;
  #everReadable = false;
  #summaryKey = '';
  #sideSignals: () => readonly ReadingSignal[] = () => [];
  #attend: () => void = () => undefined;
  #sessionId: () => string | null = () => null;
  #catchUp: () => Promise<void> = () => Promise.resolve();
  #lastEnd: TurnEnd | null = null;
  #gone = false;
  #closed: Promise<void> | null = null;

  private constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.agentId = options.agentId;
    this.name = options.name;
    this.engine = options.engine.id;
    this.version = options.plan.version;
    this.terminal = options.terminal;
    this.reader = options.engine.reader(options.plan.version);
    this.#questions = new QuestionTracker(options.ids);
    this.#turns = new Turns(options.agentId, options.ids);
    this.#streams = this.#owned.own(new AgentStreams(options));
    this.#readBefore = new ReadBefore(options.ledger.consumedInputs(options.agentId));
  }

  /** Takes over a terminal that has just been launched; owns it from here on. */
  static async open(options: AgentSessionOptions): Promise<AgentSession> {
    const session = new AgentSession(options);
    const { clock, engine, ledger, logger, plan, request, terminal } = options;
    session.#controller = session.#owned.own(
      await SessionController.open({
        terminal: terminalPort(terminal),
        reader: session.reader,
        sideSignals: () => session.sideSignals(),
        clock,
        logger,
        limits: options.limits,
        restored: session.#readBefore.withTwins(options.restored ?? []),
        ...(options.keepNote === undefined ? {} : { keepNote: options.keepNote }),
        journal: {
          dispatched: (deliveryId, mode, fingerprint, atMs) =>
            ledger.markDispatch({
              deliveryId,
              mode,
              fingerprint,
              atMs,
              ...terminal.identity,
              beginning: firstStep,
            }),
          step: (deliveryId, step) => {
            // It is on the disk with the mark: nothing else comes between the two.
            if (step !== firstStep) ledger.markStep(deliveryId, step);
          },
        },
        listener: {
          receiptChanged: (deliveryId, change) => session.#receiptChanged(deliveryId, change),
          turnEnded: (end, deliveries) => session.#turnEnded(end, deliveries),
          read: (reading, snapshot) => session.#read(reading, snapshot),
        },
      }),
    );
    // Behind the controller: what the record says from its start on is for it to hear.
    const observer: EngineObserver = session.#owned.own(
      engine.observe({
        plan,
        request,
        process: terminal.identity,
        launchedAtMs: options.launchedAtMs,
        clock,
        logger,
        onEvent: (event) => session.#engineEvent(event),
      }),
    );
    session.#sideSignals = () => observer.signals();
    session.#attend = () => observer.attend?.();
    session.#sessionId = () => observer.sessionId?.() ?? null;
    session.#catchUp = async () => await observer.catchUp?.();
    session.#owned.own(terminal.onExit((exit) => session.#exited(exit)));
    if (terminal.exit) session.#exited(terminal.exit);
    return session;
  }

  get controller(): SessionController {
    if (!this.#controller) throw new TypeError('the session is not open yet');
    return this.#controller;
  }

  /** What is known of this engine's version. */
  get certificate(): EngineCertificate {
    const { engine, version } = this;
    const verified =
      version !== null && (this.#options.engine.verifiedVersions ?? []).includes(version);
    return { engine, version, busyMode: this.reader.busyMode, verified };
  }

  get gone(): boolean {
    return this.#gone;
  }

  get reading(): Reading {
    return this.#reading;
  }

  /** What the engine says beside its screen, as of now. */
  sideSignals(): readonly ReadingSignal[] {
    return this.#sideSignals();
  }

  /** The engine's session in this terminal and where it works; null where its files don't tell, or it is over. */
  async engineSession(): Promise<AgentEngineSession | null> {
    if (this.#gone) return null;
    if (this.#sessionId() === null) await this.#readWithin(sessionLookMs);
    const sessionId = this.#gone ? null : this.#sessionId();
    if (sessionId === null) return null;
    const { agentId, engine, version } = this;
    return { agentId, engine, version, sessionId, workspace: this.#options.request.cwd };
  }

  get openQuestion(): TrackedQuestion | null {
    return this.#questions.current;
  }

  get state(): AgentState {
    if (this.#gone) return 'gone';
    if (!this.#everReadable) return 'starting';
    if (this.#reading.hold !== null) return 'held';
    return this.#reading.busy ? 'busy' : 'idle';
  }

  summary(): AgentSummary {
    const { hold } = this.#reading;
    const recap = this.#recap.latest(1)[0]?.recap ?? '';
    return {
      machineId: this.#options.machineId,
      agentId: this.agentId,
      name: this.name,
      engine: this.engine,
      version: this.version,
      state: this.state,
      ...(hold === null || this.#gone ? {} : { hold }),
      queued: this.#controller?.depth.waiting ?? 0,
      ...(recap === '' ? {} : { recap }),
    };
  }

  /** What the agent does, as it does it; not kept. */
  onStream(listener: (message: StreamMessage) => void): Disposable {
    return this.#streams.on(listener);
  }

  /** The latest turns by the engine's record, newest last; five at most. */
  recap(turns: number): readonly RecapTurn[] {
    return this.#recap.latest(turns);
  }

  /** Lets go of the agent, which lives on in its host: nothing is said of what is under way. */
  async release(): Promise<void> {
    this.#gone = true;
    this.#controller?.abandon();
    await this.#owned[Symbol.asyncDispose]();
    await this.terminal.release?.();
  }

  /** Ends the agent: what waits is rejected, what was dispatched is unknown, the child is stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#owned[Symbol.asyncDispose]();
    } finally {
      try {
        await this.terminal.close();
      } finally {
        this.#options.onClosed();
      }
    }
  }

  #receiptChanged(deliveryId: string, change: InputChange): void {
    const { ledger } = this.#options;
    const { agentId } = this;
    const entry = change.turnStarted;
    if (entry) {
      const turnId = this.#turns.idOf(entry.turnRef);
      const { atMs, fingerprint, inputRef, turnRef } = entry;
      const stored = storedChange(change, turnId);
      // Told at the earlier reading; only the receipt may have lost it.
      if (entry.deliveryId !== undefined || inputRef === null) {
        ledger.change(deliveryId, stored);
        if (entry.deliveryId === undefined) {
          ledger.announce('turn.started', agentId, { turnId, deliveryIds: [deliveryId] });
        }
      } else {
        const consumed = { agentId, inputRef, deliveryId, fingerprint, turnRef, atMs };
        ledger.started({ change: stored, turnId, consumed });
      }
    } else {
      ledger.change(deliveryId, storedChange(change, null));
    }
    this.#changed();
  }

  /** Answers and stops whose keys went in before the end of the latest turn are told what it says of them. */
  settleKeys(): void {
    const end = this.#lastEnd;
    if (!end) return;
    this.#options.ledger.changeEach(this.agentId, ({ dispatch, receipt }) =>
      dispatch === null || dispatch.atMs > end.atMs ? null : keysAtTurnEnd(receipt, end),
    );
  }

  #turnEnded(end: TurnEnd, deliveries: readonly EndedDelivery[]): void {
    const { agentId } = this;
    const turnId = this.#turns.ended(end.turnRef, end.endRef ?? null);
    this.#recap.note(turnId, end);
    this.#streams.note(turnId, end);
    this.#options.ledger.endTurn({ agentId, turnId, end, deliveries });
    this.#lastEnd = end;
    this.settleKeys();
    this.#changed();
  }

  #read(reading: Reading, _snapshot: ScreenSnapshot): void {
    this.#attend();
    this.#reading = reading;
    this.#everReadable ||= reading.readable;
    const change = this.#questions.see(reading);
    if (change?.closed) this.#questionClosed(change.closed);
    if (change?.kind === 'opened') {
      const { requestId, question } = change.opened;
      this.#options.ledger.announce('question.open', this.agentId, {
        requestId,
        questions: question.prompts,
      });
    }
    this.#changed();
  }

  #questionClosed(requestId: string): void {
    this.#options.ledger.announce('question.close', this.agentId, { requestId });
  }

  /** Lets the engine's files be read to their present end, for this long at most. */
  async #readWithin(ms: number): Promise<void> {
    const { clock, logger } = this.#options;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(ms, resolve);
      this.#catchUp()
        .catch((failure: unknown) => logger.warn({ failure }, "an engine's files were not read"))
        .finally(() => {
          timer[Symbol.dispose]();
          resolve();
        });
    });
  }

  #engineEvent(event: EngineEvent): void {
    if (event.kind === 'turn_started' || event.kind === 'turn_text' || event.kind === 'turn_tool') {
      const turnId = this.#turns.idOf(event.turnRef);
      if (event.kind !== 'turn_started') this.#streams.note(turnId, event);
      // What no turn of the record names is followed, but it is nobody's to sum up.
      if (event.kind !== 'turn_tool' && event.turnRef !== null) this.#recap.note(turnId, event);
    }
    // The controller says nothing more once the agent is gone; its record still does.
    if (event.kind === 'turn_ended' && this.#gone) return this.#turnEnded(event, []);
    this.#controller?.engineEvent(event, this.#readBefore.deliveryOf(event));
  }

  #exited(exit: ProcessExit): void {
    this.#options.logger.info({ agentId: this.agentId, ...exit }, 'an agent ended');
    this.#end();
  }

  #end(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#controller?.processExited();
    const closed = this.#questions.clear();
    if (closed) this.#questionClosed(closed);
    this.#changed();
  }

  #changed(): void {
    const { state, hold, queued } = this.summary();
    const key = `${state} ${hold ?? ''} ${queued}`;
    if (key === this.#summaryKey) return;
    this.#summaryKey = key;
    this.#options.onChanged();
  }
}
