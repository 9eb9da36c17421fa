import { defaultLimits } from '@ostler/controller';
import type { Engine, EngineEvent } from '@ostler/engines';
import { CodedError, Emitter, type Ids, silentLogger } from '@ostler/runtime';
import {
  AgentSession,
  type OperationContext,
  ReceiptsLedger,
  restoredInputs,
  type ServiceEvents,
} from '@ostler/service';
import type { ReceiptStore } from '@ostler/store';
import type { ModelEngine } from './model-engine.js';
import { modelReader } from './model-reader.js';
import type { ProcessClock } from './sim-clock.js';
import type { SimTerminal } from './sim-terminal.js';
import { type StoreWatch, WatchedStore } from './watched-store.js';

export const callerDevice = 'caller';

interface DaemonParts {
  readonly store: ReceiptStore;
  readonly storeWatch: StoreWatch;
  readonly clock: ProcessClock;
  readonly ids: Ids;
}

interface LaunchParts {
  readonly agentId: string;
  readonly engine: ModelEngine;
  readonly terminal: SimTerminal;
  /** Each event of the record, before the session has it. */
  readonly onEvent: (event: EngineEvent) => void;
}

/** One life of the process: the real ledger, sessions and operations over one opened store. */
export class SimDaemon {
  readonly store: WatchedStore;
  readonly sessions: Map<string, AgentSession> = new Map();
  readonly context: OperationContext;
  readonly clock: ProcessClock;
  readonly #parts: DaemonParts;
  readonly #ledger: ReceiptsLedger;
  readonly #terminals = new Set<SimTerminal>();
  dead = false;

  constructor(parts: DaemonParts) {
    this.#parts = parts;
    this.store = new WatchedStore(parts.store, parts.storeWatch);
    const { clock } = parts;
    this.clock = clock;
    const events = new Emitter<ServiceEvents>();
    this.#ledger = new ReceiptsLedger({ store: this.store, clock, logger: silentLogger, events });
    this.store.reconcileAfterRestart();
    this.context = {
      deviceId: callerDevice,
      ledger: this.#ledger,
      clock,
      logger: silentLogger,
      agent: (agentId) => this.#agent(agentId),
      takesWork: () => true,
      stepMs: defaultLimits.answerStepMs,
    };
  }

  async open({ agentId, engine, terminal, onEvent }: LaunchParts): Promise<void> {
    this.#terminals.add(terminal);
    const { clock, ids } = this.#parts;
    const { inputs, unwritten } = restoredInputs(
      this.#ledger.unresolved(agentId),
      terminal.identity,
      engine.host,
      (deliveryId) => this.#ledger.ordinalOf(deliveryId),
    );
    const error = { code: 'DAEMON_RESTART', message: 'nothing was written' };
    for (const deliveryId of unwritten) {
      this.#ledger.change(deliveryId, { state: 'rejected', error });
    }
    const plan = { file: '/model', args: [], env: {}, version: '1' };
    const session = await AgentSession.open({
      agentId,
      name: agentId,
      machineId: this.store.machineId,
      engine: this.#engineOf(engine, onEvent),
      plan,
      request: { args: [], cwd: '/', env: {}, sessionDir: '/' },
      terminal,
      launchedAtMs: clock.nowMs(),
      ledger: this.#ledger,
      clock,
      ids,
      logger: silentLogger,
      limits: {},
      onChanged: () => undefined,
      onClosed: () => undefined,
      restored: inputs,
      keepNote: (note) => Object.assign(engine.host, { note, writesSince: 0 }),
    });
    if (!this.dead) this.sessions.set(agentId, session);
  }

  /** SIGKILL: nothing of this process moves any more, what has left it stays where it is. */
  kill(): void {
    this.dead = true;
    this.#parts.clock.die();
    this.store.die();
    for (const terminal of this.#terminals) terminal.crash();
  }

  #agent(agentId: string): AgentSession {
    const agent = this.sessions.get(agentId);
    if (agent && !agent.gone) return agent;
    throw new CodedError('AGENT_NOT_FOUND', `no agent with the id ${agentId} runs here`);
  }

  #engineOf(engine: ModelEngine, onEvent: (event: EngineEvent) => void): Engine {
    const { rule } = engine.plan;
    return {
      id: 'model',
      planLaunch: () => Promise.reject(new TypeError('a model engine is not launched')),
      reader: () => modelReader(rule),
      observe: (request) => {
        const tell = (event: EngineEvent): void => {
          if (this.dead) return;
          onEvent(event);
          request.onEvent(event);
        };
        const { record } = engine;
        // A new follower reads the record from its start, in its own time.
        record.follow(tell, this.#parts.clock);
        return {
          signals: () => [],
          async [Symbol.asyncDispose]() {
            record.unfollow(tell);
          },
        };
      },
    };
  }
}
