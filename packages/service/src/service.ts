import { type ControllerLimits, defaultLimits } from '@ostler/controller';
import type { Engine } from '@ostler/engines';
import type {
  AgentEngineSession,
  AgentSummary,
  FocusState,
  QuestionAnswerRequest,
  RecapTurn,
  Receipt,
  ReceiptWaitRequest,
  TurnSendRequest,
  TurnStopRequest,
} from '@ostler/protocol';
import { type Clock, CodedError, Emitter, type Ids, type Logger } from '@ostler/runtime';
import type { ReceiptQuery, ReceiptStore, StoredEvent } from '@ostler/store';
import type { AgentSession } from './agent-session.js';
import { Focus } from './focus.js';
import {
  type AdoptedTerminal,
  adoptAgent,
  inProcessTerminals,
  type LaunchAgentRequest,
  launchAgent,
  type SessionRecord,
  type SessionSurroundings,
  type TerminalSource,
} from './launch-agent.js';
import { type OperationContext, type Reserved, stopping } from './operations/operation.js';
import { questionAnswer } from './operations/question-answer.js';
import { turnSend } from './operations/turn-send.js';
import { turnStop } from './operations/turn-stop.js';
import { ReceiptsLedger, type WaitResult } from './receipts-ledger.js';
import type { ServiceEvents } from './service-events.js';

export interface ServiceOptions {
  /** Owned from here on: closed with the service. */
  readonly store: ReceiptStore;
  /** A private directory for what sessions need on disk. */
  readonly sessionsDir: string;
  readonly engines: readonly Engine[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: Partial<ControllerLimits>;
  /** Agents that may run at once. */
  readonly maxAgents: number;
  /** Given to every agent, over its own environment. */
  readonly agentEnv?: Readonly<Record<string, string>>;
  /** In this process where left out. */
  readonly terminals?: TerminalSource;
}

/** Summaries in one event: it has to fit. */
const maxAnnouncedAgents = 64;

/** The operations, and the agents they work on. Embedders and a daemon share it. */
export class Service implements AsyncDisposable {
  readonly events: Emitter<ServiceEvents> = new Emitter();
  readonly #options: ServiceOptions;
  readonly #ledger: ReceiptsLedger;
  readonly #focus: Focus;
  readonly #agents = new Map<string, AgentSession>();
  readonly #launching = new Set<string>();
  #draining = false;
  #closing: Promise<void> | null = null;
  /** Agents not yet announced, each with its last summary where it is gone. */
  readonly #changedAgents = new Map<string, AgentSummary | null>();

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#ledger = new ReceiptsLedger({ ...options, events: this.events });
    options.store.reconcileAfterRestart();
    this.#focus = new Focus(options.store, this.#ledger);
  }

  get machineId(): string {
    return this.#options.store.machineId;
  }

  get serverInstanceId(): string {
    return this.#options.store.serverInstanceId;
  }

  /**
   * Starts an agent. Throws CodedError ENGINE_UNKNOWN, ENGINE_NOT_FOUND, NAME_TAKEN,
   * TOO_MANY_AGENTS, BACKPRESSURE while it drains, CLOSED, PTY_SPAWN_FAILED; then nothing runs.
   */
  async launch(request: LaunchAgentRequest): Promise<AgentSession> {
    this.#assertOpen();
    if (this.#draining) throw stopping();
    const { maxAgents } = this.#options;
    const engine = this.#engine(request.engine);
    const names = [...this.#agents.values()].filter(({ gone }) => !gone).map(({ name }) => name);
    const taken = new Set([...names, ...this.#launching]);
    const name = request.name ?? freeName(engine.id, taken);
    if (taken.has(name)) {
      throw new CodedError(
        'NAME_TAKEN',
        `an agent named "${name}" runs already; choose another name`,
      );
    }
    if (taken.size >= maxAgents) {
      throw new CodedError('TOO_MANY_AGENTS', `${maxAgents} agents run already; close one first`);
    }
    this.#launching.add(name);
    try {
      const agent = await launchAgent(this.#surroundings, engine, { ...request, name }, (changed) =>
        this.#announceAgents(changed),
      );
      if (this.#closing) {
        await agent[Symbol.asyncDispose]();
        this.#assertOpen();
      }
      this.#agents.set(agent.agentId, agent);
      this.#announceAgents(agent.agentId);
      return agent;
    } finally {
      this.#launching.delete(name);
    }
  }

  /**
   * Goes on with an agent that an earlier process launched and that still runs. The terminal is
   * the service's from here on. Throws CodedError ENGINE_UNKNOWN, CLOSED; then it is left alone.
   */
  async adopt(record: SessionRecord, opened: AdoptedTerminal): Promise<AgentSession> {
    this.#assertOpen();
    const engine = this.#engine(record.engine);
    const agent = await adoptAgent(this.#surroundings, engine, record, opened, (agentId) =>
      this.#announceAgents(agentId),
    );
    this.#agents.set(agent.agentId, agent);
    this.#announceAgents(agent.agentId);
    return agent;
  }

  /** Lets every agent live on, and closes the store: a later process may adopt them. */
  async release(): Promise<void> {
    this.#closing ??= this.#end((agent) => agent.release());
    await this.#closing;
  }

  /** Ends an agent and forgets it. Throws CodedError AGENT_NOT_FOUND. */
  async closeAgent(agentId: string): Promise<void> {
    const agent = this.#agents.get(agentId);
    if (!agent) throw notFound(agentId);
    this.#agents.delete(agentId);
    await agent[Symbol.asyncDispose]();
    this.#announceAgents(agentId, { ...agent.summary(), state: 'gone' });
  }

  agents(): readonly AgentSummary[] {
    return [...this.#agents.values()].map((agent) => agent.summary());
  }

  /** Of the running agents, those whose engine tells its session. */
  async engineSessions(): Promise<readonly AgentEngineSession[]> {
    const agents = [...this.#agents.values()];
    const sessions = await Promise.all(agents.map((agent) => agent.engineSession()));
    return sessions.filter((session) => session !== null);
  }

  /** Throws CodedError AGENT_NOT_FOUND, NO_AGENTS. */
  agent(agentId: string): AgentSession {
    const agent = this.#agents.get(agentId);
    if (agent && !agent.gone) return agent;
    if (this.#agents.size === 0) {
      throw new CodedError('NO_AGENTS', 'no agent runs here; launch one first');
    }
    throw notFound(agentId);
  }

  get focus(): FocusState {
    return this.#focus.state;
  }

  /** Throws CodedError AGENT_NOT_FOUND, NO_AGENTS; null takes the focus away. */
  setFocus(agentId: string | null): FocusState {
    if (agentId !== null) this.agent(agentId);
    return this.#focus.set(agentId);
  }

  /** A person's word on an input in doubt; lifts the barrier behind it. Throws as `agent`. */
  resolve(
    agentId: string,
    deliveryId: string,
    outcome: 'submitted' | 'not_submitted' | 'unknown',
  ): void {
    this.agent(agentId).controller.resolve(deliveryId, outcome);
  }

  /** A device's receipts, newest first. */
  receipts(deviceId: string, query: ReceiptQuery): readonly Receipt[] {
    return this.#options.store.listReceipts(deviceId, query);
  }

  /** The device's pairing ended: what of its inputs nothing was written of is rejected as REVOKED. */
  revokeDevice(deviceId: string): void {
    const { store } = this.#options;
    for (const record of store.listUnresolved()) {
      if (record.deviceId !== deviceId || record.dispatch || record.receipt.state !== 'queued') {
        continue;
      }
      const { agentId, deliveryId } = record.receipt;
      const message = "the device's pairing was revoked before anything was written";
      // First the receipt: a delivery that is no longer queued can't be dispatched.
      this.#ledger.change(deliveryId, { state: 'rejected', error: { code: 'REVOKED', message } });
      this.#agents.get(agentId)?.controller.cancel(deliveryId);
    }
  }

  /** The newest turns of an agent, newest last. Throws as `agent`. */
  recap(agentId: string, turns: number): readonly RecapTurn[] {
    return this.agent(agentId).recap(turns);
  }

  /** The device's kept results, oldest first, as they are told again after a resync. */
  results(deviceId: string): readonly StoredEvent[] {
    return this.#ledger.results(deviceId);
  }

  turnSend(deviceId: string, request: TurnSendRequest): Reserved {
    return turnSend(this.#context(deviceId), request);
  }

  turnStop(deviceId: string, request: TurnStopRequest): Reserved {
    return turnStop(this.#context(deviceId), request);
  }

  questionAnswer(deviceId: string, request: QuestionAnswerRequest): Reserved {
    return questionAnswer(this.#context(deviceId), request);
  }

  receiptGet(deviceId: string, idempotencyKey: string): Receipt | null {
    return this.#ledger.get(deviceId, idempotencyKey);
  }

  async receiptWait(
    deviceId: string,
    request: Pick<ReceiptWaitRequest, 'idempotencyKey' | 'until' | 'timeoutMs'>,
    signal?: AbortSignal,
  ): Promise<WaitResult> {
    const { idempotencyKey, until, timeoutMs } = request;
    return await this.#ledger.wait(deviceId, idempotencyKey, until, timeoutMs, signal);
  }

  /**
   * Takes no new work from here on (BACKPRESSURE; a duplicate is answered) and resolves when no
   * input is being typed and none waits, or when `withinMs` have passed. True when everything was
   * let through.
   */
  async drain(withinMs: number): Promise<boolean> {
    this.#draining = true;
    const inFlight = (): boolean =>
      [...this.#agents.values()].some(
        ({ controller, gone }) =>
          !gone && (controller.depth.waiting > 0 || controller.depth.inTransaction),
      );
    if (!inFlight()) return true;
    return await new Promise<boolean>((resolve) => {
      const end = (drained: boolean): void => {
        timer[Symbol.dispose]();
        subscription[Symbol.dispose]();
        resolve(drained);
      };
      const timer = this.#options.clock.setTimer(withinMs, () => end(false));
      const subscription = this.events.on('receipt.updated', () => {
        // The machine moves on after it has reported: look once it has.
        queueMicrotask(() => {
          if (!inFlight()) end(true);
        });
      });
    });
  }

  /** Ends every agent, then the store. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#end((agent) => agent[Symbol.asyncDispose]());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #surroundings(): SessionSurroundings {
    const { terminals = inProcessTerminals } = this.#options;
    return {
      ...this.#options,
      machineId: this.machineId,
      ledger: this.#ledger,
      terminals,
    };
  }

  #engine(id: string): Engine {
    const { engines } = this.#options;
    const engine = engines.find((candidate) => candidate.id === id);
    if (engine) return engine;
    const known = engines.map((candidate) => candidate.id);
    const other = known.includes('generic') ? '. Use "generic" for any other program' : '';
    throw new CodedError(
      'ENGINE_UNKNOWN',
      `there is no engine "${id}"; known are ${known.join(', ')}${other}`,
    );
  }

  async #end(part: (agent: AgentSession) => Promise<void>): Promise<void> {
    const agents = [...this.#agents.values()];
    const ended = await Promise.allSettled(agents.map(part));
    this.#ledger[Symbol.dispose]();
    this.#options.store.close();
    this.events.clear();
    const failures = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, 'ending the agents failed');
  }

  #assertOpen(): void {
    if (this.#closing) throw new CodedError('CLOSED', 'this instance is closed; create a new one');
  }

  #announceAgents(agentId: string, last: AgentSummary | null = null): void {
    const scheduled = this.#changedAgents.size > 0;
    this.#changedAgents.set(agentId, last);
    if (!scheduled) this.#announceSoon();
  }

  /** Once for all changes of one turn of the event loop, and behind what a delivery does in it. */
  #announceSoon(): void {
    setImmediate(() => {
      const changed = [...this.#changedAgents].slice(0, maxAnnouncedAgents);
      for (const [id] of changed) this.#changedAgents.delete(id);
      if (this.#closing) return;
      this.#dropLostFocus();
      const complete = this.#agents.size <= maxAnnouncedAgents;
      const agents = complete
        ? this.agents()
        : changed.flatMap(([id, last]) => last ?? this.#agents.get(id)?.summary() ?? []);
      this.#ledger.announce('agents.changed', null, { agents, complete });
      if (this.#changedAgents.size > 0) this.#announceSoon();
    });
  }

  #dropLostFocus(): void {
    const { focus } = this.#focus.state;
    if (focus === null) return;
    const focused = this.#agents.get(focus.agentId);
    if (!focused || focused.gone) this.#focus.set(null);
  }

  #context(deviceId: string): OperationContext {
    this.#assertOpen();
    const { clock, logger } = this.#options;
    return {
      takesWork: () => !this.#draining,
      deviceId,
      ledger: this.#ledger,
      clock,
      logger,
      agent: (agentId) => this.agent(agentId),
      guardFocus: (agentId, focusRevision) => this.#focus.guard(agentId, focusRevision),
      stepMs: this.#options.limits.answerStepMs ?? defaultLimits.answerStepMs,
    };
  }
}

function notFound(agentId: string): CodedError<'AGENT_NOT_FOUND'> {
  return new CodedError('AGENT_NOT_FOUND', `no agent with the id ${agentId} runs here`);
}

function freeName(engineId: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const name = `${engineId}-${number}`;
    if (!taken.has(name)) return name;
  }
}
