import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControllerLimits } from '@ostler/controller';
import type { Reading } from '@ostler/engines';
import {
  type ScriptInput,
  type SimulatedLaunch,
  simulatedEngine,
  simulatedLaunch,
} from '@ostler/lab';
import type { WaitUntil } from '@ostler/protocol';
import { type Clock, Disposables, randomIds, silentLogger, systemClock } from '@ostler/runtime';
import { openStore } from '@ostler/store';
import type { AgentSession, AgentState } from '../agent-session.js';
import type { Reserved } from '../operations/operation.js';
import type { WaitResult } from '../receipts-ledger.js';
import { Service } from '../service.js';

const deviceId = 'local';

/** A service on a directory of its own, with simulated agents on real terminals. */
export class ServiceRig implements AsyncDisposable {
  readonly stateDir: string;
  readonly #owned = new Disposables();
  readonly #limits: Partial<ControllerLimits>;
  readonly #clock: Clock;
  service: Service;

  constructor(limits: Partial<ControllerLimits> = {}, clock: Clock = systemClock) {
    this.#clock = clock;
    const dir = mkdtempSync(join(tmpdir(), 'ostler-service-'));
    this.#owned.defer(() => rmSync(dir, { recursive: true, force: true }));
    this.stateDir = join(dir, 'state');
    this.#limits = limits;
    this.service = this.#open();
    this.#owned.defer(() => this.service.close());
  }

  /** A new instance on the same directory, as after a restart. */
  async reopen(): Promise<void> {
    await this.service.close();
    this.service = this.#open();
  }

  async launch(
    script: ScriptInput,
    size: { readonly cols: number; readonly rows: number } = { cols: 80, rows: 24 },
  ): Promise<{ readonly agent: AgentSession; readonly control: SimulatedLaunch['control'] }> {
    const simulated = this.#owned.own(await simulatedLaunch({ script }));
    const { args, command, control, cwd, engine, env } = simulated;
    const agent = await this.service.launch({ engine, command, args, cwd, env, ...size });
    return { agent, control };
  }

  send(agent: AgentSession, idempotencyKey: string, text: string): Reserved {
    return this.service.turnSend(deviceId, {
      type: 'turn.send',
      ...this.#target(agent),
      idempotencyKey,
      text,
    });
  }

  stop(agent: AgentSession, idempotencyKey: string): Reserved {
    return this.service.turnStop(deviceId, {
      type: 'turn.stop',
      ...this.#target(agent),
      idempotencyKey,
    });
  }

  answer(
    agent: AgentSession,
    idempotencyKey: string,
    questionRequestId: string,
    answers: Readonly<Record<string, string>>,
  ): Reserved {
    return this.service.questionAnswer(deviceId, {
      type: 'question.answer',
      ...this.#target(agent),
      idempotencyKey,
      questionRequestId,
      answers,
    });
  }

  async until(idempotencyKey: string, until: WaitUntil, timeoutMs = 9_000): Promise<WaitResult> {
    return await this.service.receiptWait(deviceId, { idempotencyKey, until, timeoutMs });
  }

  /** Resolves with the first receipt of the key that fits; the test's own limit ends the wait. */
  async seen(
    idempotencyKey: string,
    fits: (receipt: WaitResult['receipt']) => boolean,
  ): Promise<WaitResult['receipt']> {
    const now = this.service.receiptGet(deviceId, idempotencyKey);
    if (now && fits(now)) return now;
    return await new Promise((resolve) => {
      const subscription = this.service.events.on('receipt.updated', ({ receipt }) => {
        if (receipt.idempotencyKey !== idempotencyKey || !fits(receipt)) return;
        subscription[Symbol.dispose]();
        resolve(receipt);
      });
    });
  }

  /** Resolves when the agent's summary says `state`. */
  async agentIs(agent: AgentSession, state: AgentState): Promise<void> {
    if (agent.state === state) return;
    await new Promise<void>((resolve) => {
      const subscription = this.service.events.on('agents.changed', () => {
        if (agent.state !== state) return;
        subscription[Symbol.dispose]();
        resolve();
      });
    });
  }

  /** Resolves at the first look whose reading fits. */
  async reads(agent: AgentSession, fits: (reading: Reading) => boolean): Promise<void> {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        const subscription = agent.terminal.onChange(() => {
          subscription[Symbol.dispose]();
          resolve();
        });
      });
      if (fits(agent.reader.read(await agent.terminal.look(), agent.sideSignals()))) return;
      await changed;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }

  #target(agent: AgentSession): { requestId: string; machineId: string; agentId: string } {
    return {
      requestId: randomIds.uuid(),
      machineId: this.service.machineId,
      agentId: agent.agentId,
    };
  }

  #open(): Service {
    return new Service({
      store: openStore({ stateDir: this.stateDir, clock: this.#clock, ids: randomIds }),
      sessionsDir: join(this.stateDir, 'sessions'),
      engines: [simulatedEngine],
      clock: this.#clock,
      ids: randomIds,
      logger: silentLogger,
      limits: this.#limits,
      maxAgents: 4,
    });
  }
}
