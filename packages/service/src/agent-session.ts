import {
  type ControllerLimits,
  type ReceiptChange as InputChange,
  SessionController,
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
import type { AgentSummary } from '@ostler/protocol';
import { type Clock, Disposables, type Ids, type Logger } from '@ostler/runtime';
import type { AgentTerminal, ProcessExit, ScreenSnapshot } from '@ostler/terminal';
import { QuestionTracker, type TrackedQuestion } from './open-question.js';
import { type ReceiptsLedger, storedChange } from './receipts-ledger.js';
import { terminalPort } from './terminal-port.js';
import { Turns } from './turns.js';

/** What a session needs of a terminal: all that can be seen of one from outside. */
export type SessionTerminal = Pick<AgentTerminal, keyof AgentTerminal>;

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
  readonly #questions: QuestionTracker;
  readonly #turns: Turns;
  #controller: SessionController | null = null;
  #reading: Reading = unreadable;
  #everReadable = false;
  #summaryKey = '';
  #sideSignals: () => readonly ReadingSignal[] = () => [];
  #attend: () => void = () => undefined;
  #gone = false;

  private constructor(options: AgentSessionOptions) {
    this.#options = options;
    this.agentId = options.agentId;
    this.name = options.name;
    this.engine = options.engine.id;
    this.version = options.plan.version;
    this.terminal = options.terminal;
    this.reader = options.engine.reader(options.plan.version);
    this.#questions = new QuestionTracker(options.ids);
    this.#turns = new Turns(options.ids);
  }

  /** Takes over a terminal that has just been launched; owns it from here on. */
  static async open(options: AgentSessionOptions): Promise<AgentSession> {
    const session = new AgentSession(options);
    const { clock, engine, ledger, logger, plan, request, terminal } = options;
    session.#owned.defer(options.onClosed);
    session.#owned.own(terminal);
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
    session.#controller = session.#owned.own(
      await SessionController.open({
        terminal: terminalPort(terminal),
        reader: session.reader,
        sideSignals: session.#sideSignals,
        clock,
        logger,
        limits: options.limits,
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
          read: (reading, snapshot) => session.#read(reading, snapshot),
        },
      }),
    );
    session.#owned.own(terminal.onExit((exit) => session.#exited(exit)));
    if (terminal.exit) session.#exited(terminal.exit);
    return session;
  }

  get controller(): SessionController {
    if (!this.#controller) throw new TypeError('the session is not open yet');
    return this.#controller;
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
    return {
      machineId: this.#options.machineId,
      agentId: this.agentId,
      name: this.name,
      engine: this.engine,
      version: this.version,
      state: this.state,
      ...(hold === null || this.#gone ? {} : { hold }),
      queued: this.#controller?.depth.waiting ?? 0,
    };
  }

  /** Ends the agent: what waits is rejected, what was dispatched is unknown, the child is stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await this.#owned[Symbol.asyncDispose]();
  }

  #receiptChanged(deliveryId: string, change: InputChange): void {
    const { ledger } = this.#options;
    const turnId = change.turnStarted ? this.#turns.idOf(change.turnStarted.turnRef) : null;
    ledger.change(deliveryId, storedChange(change, turnId));
    if (turnId) {
      ledger.announce('turn.started', this.agentId, { turnId, deliveryIds: [deliveryId] });
    }
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

  #engineEvent(event: EngineEvent): void {
    this.#controller?.engineEvent(event);
    if (event.kind === 'turn_ended') {
      const turnId = this.#turns.ended(event.turnRef);
      this.#options.ledger.announce('turn.done', this.agentId, { turnId, outcome: event.outcome });
    }
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
