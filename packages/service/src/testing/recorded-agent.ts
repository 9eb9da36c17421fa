import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '@ostler/engines';
import { simulatedEngine } from '@ostler/lab';
import type { Receipt, TurnResult } from '@ostler/protocol';
import { Disposables, Emitter, randomIds, silentLogger, systemClock } from '@ostler/runtime';
import { openStore, type ReceiptStore, type StoredEvent } from '@ostler/store';
import { AgentTerminal } from '@ostler/terminal';
import { AgentSession } from '../agent-session.js';
import { ReceiptsLedger } from '../receipts-ledger.js';
import { restoredInputs } from '../restored-inputs.js';
import type { ServiceEvents } from '../service-events.js';

export const agentId = 'agent';
/** Whom the inputs were dispatched to, in every life. */
const identity = { pid: 1, startTime: '1' };
const reader = simulatedEngine.reader(null);

/** Where a process dies: in front of a result's commit, or behind it and before anything is told. */
export type Death = 'before_commit' | 'before_emission';

/** How the record in a session's directory is followed. `onEnd` is to be called once it has been read whole. */
export type Following = (sessionDir: string, onEnd: () => void) => Engine;

/** One life of a process that follows an agent's record. */
interface Life extends AsyncDisposable {
  readonly store: ReceiptStore;
  readonly session: AgentSession;
  /** Everything that was told in this life. */
  readonly told: readonly StoredEvent[];
}

/**
 * A state directory, and the record of an agent that an earlier process dispatched inputs to. Each
 * life opens both anew and reads the record from its start, with real SQLite and a real terminal.
 */
export class RecordedAgent implements Disposable {
  readonly #dir: string = mkdtempSync(join(tmpdir(), 'ostler-recorded-'));
  /** Where the agent's record stands. */
  readonly sessionDir: string = join(this.#dir, 'session');
  readonly #follow: Following;

  constructor(follow: Following = simulated) {
    this.#follow = follow;
    mkdirSync(this.sessionDir);
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  openStore(): ReceiptStore {
    return openStore({ stateDir: join(this.#dir, 'state'), clock: systemClock, ids: randomIds });
  }

  /** Reserves and dispatches, in a process of their own, `[key, text, device]`. */
  dispatch(...inputs: readonly (readonly [string, string, string?])[]): readonly Receipt[] {
    using store = this.openStore();
    store.reconcileAfterRestart();
    return inputs.map(([idempotencyKey, text, deviceId = 'voice']) => {
      const reserved = store.reserve({
        deviceId,
        idempotencyKey,
        intentDigest: '0'.repeat(64),
        operation: 'turn.send',
        agentId,
        input: { mode: 'direct', phase: 'waiting_for_writer' },
      });
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      const { deliveryId } = reserved.receipt;
      const fingerprint = reader.fingerprint(text);
      const atMs = systemClock.nowMs();
      store.markDispatch({ deliveryId, mode: 'direct', fingerprint, atMs, ...identity });
      store.markStep(deliveryId, 'enter_begun');
      store.applyChange(deliveryId, { state: 'delivered', input: { phase: 'accepted' } });
      return reserved.receipt;
    });
  }

  /** The agent writes: it takes `[ref, text]` into `turn`. */
  consumes(turn: string, ...inputs: readonly (readonly [string, string])[]): void {
    for (const [id, text] of inputs) this.#write({ type: 'consumed', id, turn, text });
  }

  /** The agent writes: `turn` has ended, with these inputs. */
  ends(
    turn: string,
    inputs: readonly string[],
    text: string | null,
    outcome: 'completed' | 'failed' | 'cancelled' = 'completed',
  ): void {
    this.#write({ type: 'turn_ended', turn, outcome, inputs, text });
  }

  #write(entry: object): void {
    append(this.sessionDir, entry);
  }

  /** Lives until everything in the record has been read, or until the death that was asked for. */
  async live(death?: Death): Promise<Life> {
    const owned = new Disposables();
    const real = owned.own(this.openStore());
    const told: StoredEvent[] = [];
    const store = death === undefined ? real : dying(real, death);
    const events = new Emitter<ServiceEvents>();
    events.on('event', (event) => void told.push(event));
    const ledger = owned.own(
      new ReceiptsLedger({ store, clock: systemClock, logger: silentLogger, events }),
    );
    store.reconcileAfterRestart();
    let wake: () => void = () => undefined;
    const whole = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const env = { PATH: process.env['PATH'] ?? '' };
    const terminal = await AgentTerminal.launch({
      file: '/bin/cat',
      args: [],
      env,
      cwd: '/',
      cols: 80,
      rows: 24,
    });
    const session = await AgentSession.open({
      agentId,
      name: agentId,
      machineId: real.machineId,
      engine: this.#follow(this.sessionDir, () => wake()),
      plan: { file: '/bin/cat', args: [], env, version: null },
      request: { args: [], cwd: '/', env, sessionDir: this.sessionDir },
      terminal,
      launchedAtMs: 0,
      ledger,
      clock: systemClock,
      ids: randomIds,
      logger: silentLogger,
      limits: {},
      onChanged: () => undefined,
      restored: restoredInputs(
        ledger.unresolved(agentId),
        identity,
        { note: null, writesSince: null },
        () => null,
      ).inputs,
      onClosed: () => undefined,
    });
    await whole;
    return {
      store: real,
      session,
      told,
      async [Symbol.asyncDispose]() {
        await session.release();
        await terminal.close();
        await owned[Symbol.asyncDispose]();
      },
    };
  }
}

export const resultsIn = (told: readonly StoredEvent[]): readonly TurnResult[] =>
  told
    .filter(({ event }) => event.kind === 'turn.result')
    .map(({ event }) => event.payload as unknown as TurnResult);

function append(sessionDir: string, entry: object): void {
  const line = JSON.stringify({ ...entry, at: systemClock.nowMs() + 5 });
  appendFileSync(join(sessionDir, 'record.jsonl'), `${line}\n`);
}

/** Writes a last entry, which tells that everything before it has been read. */
function simulated(sessionDir: string, onEnd: () => void): Engine {
  const marker = `end-of-record-${randomIds.uuid()}`;
  append(sessionDir, { type: 'accepted', id: marker, text: marker });
  return {
    ...simulatedEngine,
    planLaunch: (request) => simulatedEngine.planLaunch(request),
    observe: (request) =>
      simulatedEngine.observe({
        ...request,
        onEvent: (event) => {
          if (event.kind === 'input_accepted' && event.text === marker) onEnd();
          else request.onEvent(event);
        },
      }),
  };
}

/** The real store, in a process that dies at its first result: nothing it does afterwards counts. */
function dying(real: ReceiptStore, death: Death): ReceiptStore {
  let dead = false;
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const events = (name === 'applyTogether' ? args[1] : undefined) as
          | readonly { readonly kind: string }[]
          | undefined;
        const isResult = events?.some(({ kind }) => kind === 'turn.result') === true;
        if (isResult && death === 'before_emission' && !dead) Reflect.apply(value, target, args);
        dead ||= isResult;
        if (dead) throw new Error('this process is dead');
        return Reflect.apply(value, target, args);
      };
    },
  });
}
