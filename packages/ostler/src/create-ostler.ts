import { join } from 'node:path';
import type { ControllerLimits } from '@ostler/controller';
import type { Engine } from '@ostler/engines';
import {
  type AgentSummary,
  type OstlerRequest,
  parseRequest,
  type Receipt,
  type RequestOf,
  type WaitUntil,
} from '@ostler/protocol';
import {
  type Clock,
  CodedError,
  type Ids,
  type Logger,
  randomIds,
  silentLogger,
  systemClock,
} from '@ostler/runtime';
import { type Reserved, Service, type ServiceEvents, type WaitResult } from '@ostler/service';
import { openStore } from '@ostler/store';
import { Agent } from './agent.js';
import { builtInEngines } from './built-in-engines.js';
import { type LaunchOptions, launchRequest } from './launch-options.js';

export interface OstlerOptions {
  /**
   * Where receipts are kept; made with mode 0700 where it isn't there. One instance at a
   * time: a second one in any process is refused with STORE_LOCKED.
   */
  readonly stateDir: string;
  /** Engines beside the built-in ones (`claude`, `codex`, `generic`); one of the same id replaces it. */
  readonly engines?: readonly Engine[];
  /** Bounds of each agent's input; see `ControllerLimits` for units and defaults. */
  readonly limits?: Partial<ControllerLimits>;
  /** Agents that may run at once; 200 where left out. */
  readonly maxAgents?: number;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

export interface TurnSendOptions {
  readonly agentId: string;
  /** Yours: `[A-Za-z0-9_-]{1,64}`. The same key with the same text is the same request, for ever one submission. */
  readonly idempotencyKey: string;
  /** Not blank, at most 16,384 bytes in UTF-8. Always a prompt, never a command of the agent. */
  readonly text: string;
  /** Aborting before the first byte cancels the input; afterwards it is in doubt. */
  readonly signal?: AbortSignal;
}

export interface QuestionAnswerOptions {
  readonly agentId: string;
  readonly idempotencyKey: string;
  /** From the `question.open` event or `agent.status()`. */
  readonly questionRequestId: string;
  /** By the question's text or header: the option chosen. */
  readonly answers: Readonly<Record<string, string>>;
}

export interface ReceiptWaitOptions {
  /**
   * `accepted`: the agent has it; of an answer or a stop, its keys were seen to take effect.
   * `started`: its record shows it consumed. `settled`: completed or rejected.
   */
  readonly until: WaitUntil;
  /** 0 to 60,000. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** The one device of an embedded instance. */
const deviceId = 'local';
const defaultMaxAgents = 200;
const drainMs = 60_000;

/**
 * Everything in this process: agents on terminals of their own, durable receipts, events.
 * `await using` drains and closes it.
 */
export class Ostler implements AsyncDisposable {
  readonly #service: Service;
  readonly #ids: Ids;
  readonly #agents = new Map<string, Agent>();

  constructor(service: Service, ids: Ids) {
    this.#service = service;
    this.#ids = ids;
  }

  /** Stable for the state directory. */
  get machineId(): string {
    return this.#service.machineId;
  }

  /** New at each start; receipts carry the one they were born in. */
  get serverInstanceId(): string {
    return this.#service.serverInstanceId;
  }

  /**
   * Starts an agent on a terminal of its own and resolves once it has been looked at; it
   * need not be ready yet: inputs wait until it is.
   *
   * Throws CodedError ENGINE_UNKNOWN, ENGINE_NOT_FOUND, ENGINE_VERSION_UNSUPPORTED,
   * NAME_TAKEN, TOO_MANY_AGENTS, PTY_SPAWN_FAILED, INVALID_REQUEST, BACKPRESSURE once it drains,
   * CLOSED; then nothing runs.
   */
  async launch(options: LaunchOptions): Promise<Agent> {
    const session = await this.#service.launch(launchRequest(options));
    const agent = new Agent(session, () => this.#close(session.agentId));
    this.#agents.set(agent.agentId, agent);
    return agent;
  }

  /** A launched agent, or undefined. */
  agent(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  agents(): readonly AgentSummary[] {
    return this.#service.agents();
  }

  /**
   * Reserves the key on the disk and queues the text for the agent. Resolves with the
   * receipt as it stands then: `accepted` means that the request was taken here; what the
   * agent did with it is in the receipt's `input` and `state`, later ones included.
   *
   * At most one submission per key, in this process and in the next ones.
   * Throws CodedError INVALID_REQUEST, PAYLOAD_TOO_LARGE, AGENT_NOT_FOUND, NO_AGENTS,
   * IDEMPOTENCY_CONFLICT, BACKPRESSURE, STORE_FULL, STORE_READ_ONLY, CLOSED; then nothing was
   * claimed and nothing will be typed.
   */
  async turnSend(options: TurnSendOptions): Promise<Reserved> {
    const { agentId, idempotencyKey, signal, text } = options;
    signal?.throwIfAborted();
    const request = this.#parse('turn.send', { agentId, idempotencyKey, text });
    const reserved = this.#service.turnSend(deviceId, request);
    if (reserved.status === 'accepted' && signal) {
      const { deliveryId } = reserved.receipt;
      signal.addEventListener('abort', () => this.#cancel(agentId, deliveryId), { once: true });
    }
    return reserved;
  }

  /**
   * Interrupts the running turn by the agent's own key, only while the agent shows that it
   * is at work. Errors as in `turnSend`.
   */
  async turnStop(options: { agentId: string; idempotencyKey: string }): Promise<Reserved> {
    return this.#service.turnStop(deviceId, this.#parse('turn.stop', options));
  }

  /**
   * Answers an open question; never a permission. Errors as in `turnSend`, and
   * QUESTION_STALE when that question is no longer open: then nothing was typed.
   */
  async questionAnswer(options: QuestionAnswerOptions): Promise<Reserved> {
    return this.#service.questionAnswer(deviceId, this.#parse('question.answer', options));
  }

  /** The receipt as committed, or null, which proves nothing: receipts leave 30 minutes after they settle. */
  receiptGet(idempotencyKey: string): Receipt | null {
    return this.#service.receiptGet(deviceId, idempotencyKey);
  }

  /**
   * Waits until the receipt says `until`, is settled, or `timeoutMs` have passed. Waiting
   * changes nothing, and a timeout says nothing about the work.
   * Throws CodedError RECEIPT_NOT_FOUND, INVALID_REQUEST, or the signal's reason.
   */
  async receiptWait(idempotencyKey: string, options: ReceiptWaitOptions): Promise<WaitResult> {
    const { signal, timeoutMs, until } = options;
    const request = this.#parse('receipt.wait', { idempotencyKey, timeoutMs, until }, false);
    return await this.#service.receiptWait(deviceId, request, signal);
  }

  /**
   * A person's word on an input in doubt, after a look at the terminal; lifts the barrier
   * behind it. Throws CodedError AGENT_NOT_FOUND, NO_AGENTS.
   */
  resolve(
    agentId: string,
    deliveryId: string,
    outcome: 'submitted' | 'not_submitted' | 'unknown',
  ): void {
    this.#service.agent(agentId).controller.resolve(deliveryId, outcome);
  }

  /** Calls `listener` at every event of the kind until the subscription is disposed. */
  on<Kind extends keyof ServiceEvents & string>(
    kind: Kind,
    listener: (event: ServiceEvents[Kind]) => void,
  ): Disposable {
    return this.#service.events.on(kind, listener);
  }

  /**
   * Takes no new work from here on (BACKPRESSURE; a duplicate is answered) and resolves once what
   * is under way is let through: true, or false when `withinMs` (60,000) passed first. Ends no agent.
   */
  async drain(withinMs: number = drainMs): Promise<boolean> {
    return await this.#service.drain(withinMs);
  }

  /** Ends every agent now and closes the store. What waited is rejected, what was dispatched stays unknown. Idempotent. */
  async close(): Promise<void> {
    await this.#service.close();
  }

  /** Drains for at most a minute, then closes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
    await this.close();
  }

  async #close(agentId: string): Promise<void> {
    if (!this.#agents.delete(agentId)) return;
    await this.#service.closeAgent(agentId);
  }

  #cancel(agentId: string, deliveryId: string): void {
    const agent = this.#service.agents().find((summary) => summary.agentId === agentId);
    if (agent && agent.state !== 'gone') {
      this.#service.agent(agentId).controller.cancel(deliveryId);
    }
  }

  #parse<Type extends OstlerRequest['type']>(
    type: Type,
    fields: object,
    targeted = true,
  ): RequestOf<Type> {
    const { machineId } = this;
    const parsed = parseRequest(
      { type, requestId: this.#ids.uuid(), ...(targeted ? { machineId } : {}), ...fields },
      { machineId },
    );
    if (parsed.kind === 'refused') {
      throw new CodedError(parsed.error.code, parsed.error.message);
    }
    return parsed.request as RequestOf<Type>;
  }
}

/**
 * Opens (or makes) the state directory and settles what an earlier instance left in flight.
 *
 * Throws CodedError STORE_LOCKED, STORE_CORRUPT (the file is kept), STORE_TOO_NEW,
 * STORE_DIR_UNWRITABLE, STORE_READ_ONLY, STORE_FULL.
 */
export async function createOstler(options: OstlerOptions): Promise<Ostler> {
  const { clock = systemClock, ids = randomIds, logger = silentLogger, stateDir } = options;
  const extra = options.engines ?? [];
  const builtIn = builtInEngines.filter(({ id }) => !extra.some((own) => own.id === id));
  const store = openStore({ stateDir, clock, ids });
  const service = new Service({
    store,
    sessionsDir: join(stateDir, 'sessions'),
    engines: [...extra, ...builtIn],
    clock,
    ids,
    logger,
    limits: options.limits ?? {},
    maxAgents: options.maxAgents ?? defaultMaxAgents,
  });
  return new Ostler(service, ids);
}
