import { defaultLimits } from '@ostler/controller';
import { CodedError, type Ids, sequentialIds } from '@ostler/runtime';
import type { AgentSession } from '@ostler/service';
import type { ReceiptStore } from '@ostler/store';
import { Callers } from './callers.js';
import { callerDevice, SimDaemon } from './daemon.js';
import { MemoryDisk } from './memory-disk.js';
import { MemoryReceiptStore } from './memory-store.js';
import { ModelEngine } from './model-engine.js';
import { eraseKey, escapeKey } from './model-reader.js';
import type { Moment, Plan, PlannedAction, PlannedDo } from './plan.js';
import { chance } from './random.js';
import { ProcessClock, SimClock } from './sim-clock.js';
import { SimTerminal } from './sim-terminal.js';
import { type Tally, type Violation, Watch } from './watch.js';

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly tally: Tally;
  readonly trace: readonly string[];
}

export interface RunOptions {
  /** A trace costs time; without it there is none. */
  readonly traced?: boolean;
  /** Opens a store as a new process does; called again after each restart. */
  readonly openStore?: (clock: ProcessClock, ids: Ids) => ReceiptStore;
}

/** Promise steps after each instant: more than any chain of ours has between two waits. */
const hopsCount = 40;
const restartTakesMs = 50;
const calmRounds = 12;
const calmRoundMs = 12_000;
const personLooksEveryMs = 3_000;
/** A schedule that goes on longer than this runs in a circle. */
const maxStepsCount = 60_000;

const callsUs: ReadonlySet<PlannedDo['do']> = new Set([
  'send',
  'resend',
  'conflict',
  'cancel',
  'resolve',
  'stop',
  'answer',
  'person',
  'resize',
  'takeover',
]);

/** One seeded world: callers, people, engines, and our house between them. */
export class World {
  readonly #plan: Plan;
  readonly #clock: SimClock;
  readonly #watch: Watch;
  readonly #trace: string[] | null;
  readonly #ids = sequentialIds();
  readonly #disk: MemoryDisk;
  readonly #openStore: NonNullable<RunOptions['openStore']>;
  readonly #callers: Callers;
  readonly #counts = new Map<string, number>();
  readonly #armed = new Map<string, PlannedAction[]>();
  readonly #engines: ModelEngine[] = [];
  readonly #terminals: (SimTerminal | null)[] = [];
  #daemon: SimDaemon;
  #processes = 0;
  #serial = 0;
  #touched = true;
  #calm = false;

  constructor(plan: Plan, options: RunOptions = {}) {
    this.#plan = plan;
    this.#trace = options.traced ? [] : null;
    this.#clock = new SimClock(chance(plan.seed, 'ties'));
    this.#disk = new MemoryDisk(this.#ids);
    this.#openStore =
      options.openStore ??
      ((clock, ids) => new MemoryReceiptStore({ disk: this.#disk, clock, ids }));
    this.#watch = new Watch({
      nowMs: () => this.#clock.monotonicMs(),
      trace: this.#trace,
      moment: (session, moment) => this.#moment(session, moment),
      touched: () => void (this.#touched = true),
    });
    for (const index of plan.engines.keys()) {
      this.#watch.sessions.push({
        index,
        agentId: '',
        reserved: 0,
        lastPasted: 0,
        lastSubmitted: 0,
        writing: null,
        pasted: null,
        lastWriteOrder: 0,
        seenAtWrite: new Map(),
        answering: new Set(),
        gone: false,
      });
      this.#newEngine(index);
    }
    this.#callers = new Callers({
      watch: this.#watch,
      ids: this.#ids,
      machineId: this.#disk.machineId,
      daemon: () => this.#daemon,
    });
    this.#daemon = this.#openDaemon();
    this.#adoptAll();
    for (const action of plan.actions) this.#arm(action);
  }

  async run(): Promise<Outcome> {
    await this.#advance(this.#plan.calmFromMs);
    if (this.#watch.violations.length === 0) await this.#comeToRest();
    if (this.#watch.violations.length === 0) this.#checkEnd();
    this.#watch.count();
    this.#daemon.kill();
    return {
      violations: this.#watch.violations,
      tally: this.#watch.tally,
      trace: this.#trace ?? [],
    };
  }

  async #advance(untilMs: number): Promise<void> {
    await this.#settle();
    while (this.#watch.violations.length === 0 && this.#clock.runNext(untilMs)) {
      this.#watch.tally.steps += 1;
      if (this.#watch.tally.steps > maxStepsCount) return this.#watch.fault('it runs in a circle');
      if (this.#touched) await this.#settle();
    }
  }

  /** Lets everything run that waits for nothing but a promise. */
  async #settle(): Promise<void> {
    this.#touched = false;
    for (let hop = 0; hop < hopsCount; hop += 1) await Promise.resolve();
    this.#checkDepths();
  }

  #checkDepths(): void {
    for (const session of this.#watch.sessions) {
      const depth = this.#sessionOf(session.index)?.controller.depth;
      if (depth) {
        const { waiting, unresolved } = depth;
        const fact = { session, waiting, waitingBytes: 0, unresolved, limits: defaultLimits };
        this.#watch.check('depth', fact);
      }
    }
  }

  #arm(action: PlannedAction): void {
    if ('atMs' in action) {
      this.#clock.setTimer(action.atMs, () => this.#do(action));
      return;
    }
    const name = `${action.of} ${action.on}`;
    this.#armed.set(name, [...(this.#armed.get(name) ?? []), action]);
  }

  #moment(session: number, moment: Moment): void {
    const name = `${session} ${moment}`;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const due = this.#armed.get(name);
    if (!due || this.#calm) return;
    for (const action of due) {
      if (!('on' in action) || action.nth !== count) continue;
      // Engines and the death of a process are no part of our thread; a call into our house is.
      if (action.afterMs === 0 && !callsUs.has(action.do)) this.#do(action);
      else this.#clock.setTimer(action.afterMs, () => this.#do(action));
    }
  }

  #newEngine(index: number): void {
    const enginePlan = this.#plan.engines[index];
    const session = this.#watch.sessions[index];
    if (!enginePlan || !session) return;
    this.#processes += 1;
    session.agentId = `agent-${index}-${this.#processes}`;
    session.gone = false;
    const stream = `engine ${index} ${this.#processes}`;
    this.#engines[index] = new ModelEngine({
      plan: enginePlan,
      clock: this.#clock,
      chance: chance(this.#plan.seed, stream),
      recordChance: chance(this.#plan.seed, `record of ${stream}`),
      paintChance: chance(this.#plan.seed, `screen of ${stream}`),
      witness: this.#watch.witness(session),
    });
    if (this.#calm) this.#engines[index]?.calm();
  }

  #openDaemon(): SimDaemon {
    const clock = new ProcessClock(this.#clock, () => void (this.#touched = true));
    return new SimDaemon({
      store: this.#openStore(clock, this.#ids),
      clock,
      ids: this.#ids,
      storeWatch: {
        reserved: (receipt) => {
          const { asking } = this.#callers;
          if (asking) this.#watch.reserved(receipt, asking);
        },
        receiptIs: (receipt) => this.#watch.receiptIs(receipt),
        resultIs: (result, deviceId) => this.#watch.resultIs(result, deviceId === callerDevice),
        journalled: (deliveryId) => this.#watch.journalled(deliveryId),
        committed: () => this.#moment(0, 'store_written'),
      },
    });
  }

  #adoptAll(): void {
    for (const index of this.#plan.engines.keys()) this.#adopt(index);
  }

  #adopt(index: number): void {
    const daemon = this.#daemon;
    const { clock } = daemon;
    const engine = this.#engines[index];
    const session = this.#watch.sessions[index];
    if (!engine?.alive || !session || daemon.dead) return;
    const terminal = new SimTerminal({
      engine,
      clock,
      chance: chance(this.#plan.seed, `terminal ${index} ${this.#processes}`),
      lookMs: this.#plan.lookMs,
      writeMs: this.#plan.writeMs,
      watch: this.#watch.terminal(session),
      pid: 1_000 + index,
      serial: () => (this.#serial += 1),
      isCalm: () => this.#calm,
    });
    this.#terminals[index] = terminal;
    const { agentId } = session;
    const onEvent = (event: { readonly kind: string; readonly text?: string | null }): void => {
      this.#touched = true;
      this.#watch.note(() => `[${index}] the record tells: ${event.kind} ${event.text ?? ''}`);
      const told = event.kind === 'input_accepted' || event.kind === 'input_consumed';
      if (told && typeof event.text === 'string' && !session.gone) {
        this.#watch.evidence(session, event.text, (text) => this.#callers.isAmbiguous(text));
      }
    };
    daemon.open({ agentId, engine, terminal, onEvent }).catch((failure: unknown) => {
      if (!daemon.dead) this.#watch.fault(`a session can't be opened: ${failure}`);
    });
  }

  #sessionOf(index: number): AgentSession | undefined {
    const session = this.#daemon.sessions.get(this.#watch.sessions[index]?.agentId ?? '');
    return this.#daemon.dead || session?.gone ? undefined : session;
  }

  #do(action: PlannedDo): void {
    this.#touched = true;
    this.#watch.note(() => `> ${describeDo(action)}`);
    switch (action.do) {
      case 'send':
        return this.#callers.send(action);
      case 'stop':
        return this.#callers.stop(action);
      case 'answer':
        return this.#callers.answer(action, this.#sessionOf(action.session)?.openQuestion ?? null);
      case 'resend':
        return this.#callers.resend(action.key);
      case 'conflict':
        return this.#callers.askOtherwise(action.key);
      case 'cancel': {
        const delivery = this.#watch.deliveryOf(action.key);
        if (!delivery) return;
        return this.#sessionOf(delivery.session)?.controller.cancel(delivery.deliveryId);
      }
      case 'resolve':
        return this.#resolve(action.key);
      case 'person':
        return void this.#terminals[action.session]?.personInput(action.keys);
      case 'resize':
        return this.#terminals[action.session]?.resize(action.cols, 24);
      case 'open':
        return this.#engines[action.session]?.open(action.dialog);
      case 'close':
        return this.#engines[action.session]?.closeItself();
      case 'stall':
        return this.#engines[action.session]?.stall(action.what, action.forMs);
      case 'ghost':
        return this.#engines[action.session]?.ghost(action.text);
      case 'end_turn':
        return this.#engines[action.session]?.endTurn(action.outcome);
      case 'shell':
        return this.#engines[action.session]?.becomeShell();
      case 'die':
        return this.#die(action.session);
      case 'restart':
        return this.#restart(action.engines, action.unadopted ?? 0);
      case 'takeover':
        return this.#takeOver(action.session, action.forMs);
      case 'write_fault': {
        const terminal = this.#terminals[action.session];
        if (terminal) terminal.nextFault = action.fault;
        return;
      }
      case 'swallow': {
        const engine = this.#engines[action.session];
        if (engine) engine.swallow = action.enters;
        return;
      }
      case 'store_fails':
        this.#daemon.store.failing = action.operations;
        return;
    }
  }

  /** A person who has looked says what became of an input in doubt. */
  #resolve(key: string): void {
    const delivery = this.#watch.deliveryOf(key);
    const engine = delivery ? this.#engines[delivery.session] : undefined;
    const controller = delivery && this.#sessionOf(delivery.session)?.controller;
    if (!delivery || !engine || !controller || controller.phase !== 'unconfirmed') return;
    // Whoever sees bytes still on their way waits before saying anything.
    if (delivery.receipt.state !== 'unknown' || !engine.caughtUp) return;
    const taken = delivery.submittedByUs + delivery.submittedByPerson > 0;
    const nowhere = engine.draftPieces.length === 0;
    const outcome = taken ? 'submitted' : nowhere ? 'not_submitted' : 'unknown';
    this.#watch.note(() => `a person says of ${key}: ${outcome}`);
    delivery.resolved = true;
    controller.resolve(delivery.deliveryId, outcome);
  }

  #die(index: number): void {
    const engine = this.#engines[index];
    const session = this.#watch.sessions[index];
    if (!engine?.alive || !session) return;
    engine.die();
    session.gone = true;
    this.#terminals[index]?.ended();
  }

  #restart(engines: 'die' | 'survive', unadopted: number): void {
    if (this.#daemon.dead) return;
    this.#daemon.kill();
    this.#terminals.fill(null);
    if (engines === 'die') for (const engine of this.#engines) engine.die();
    this.#startAgain(restartTakesMs, unadopted);
  }

  #startAgain(afterMs: number, unadopted: number): void {
    this.#clock.setTimer(afterMs, () => {
      this.#touched = true;
      for (const [index, engine] of this.#engines.entries()) {
        if (!engine.alive) this.#newEngine(index);
      }
      this.#watch.note(() => 'a new process opens the store');
      this.#watch.newLife();
      this.#daemon = this.#openDaemon();
      if (unadopted > 0) {
        this.#daemon.kill();
        this.#startAgain(restartTakesMs, unadopted - 1);
      } else {
        this.#adoptAll();
      }
    });
  }

  #takeOver(index: number, forMs: number): void {
    const terminal = this.#terminals[index];
    if (!terminal || this.#daemon.dead) return;
    const token = terminal.writer.acquire();
    this.#clock.setTimer(forMs, () => {
      this.#touched = true;
      terminal.writer.release(token);
    });
  }

  /** Nothing bad happens any more; a person closes dialogs and clears what was left in a composer. */
  async #comeToRest(): Promise<void> {
    this.#calm = true;
    this.#watch.note(() => 'calm from here on');
    this.#daemon.store.failing = 0;
    for (const engine of this.#engines) engine.calm();
    for (let round = 0; round < calmRounds; round += 1) {
      const endMs = this.#clock.monotonicMs() + calmRoundMs;
      while (this.#clock.monotonicMs() < endMs) {
        await this.#advance(Math.min(endMs, this.#clock.monotonicMs() + personLooksEveryMs));
        if (this.#watch.violations.length > 0) return;
        for (const [index, engine] of this.#engines.entries()) this.#tidy(index, engine, round);
      }
      if (this.#atRest()) break;
    }
    for (const session of this.#watch.sessions) {
      const agent = this.#sessionOf(session.index);
      if (!agent || agent.reading.hold === 'shell') continue;
      const deliveries = [...this.#watch.deliveries.values()].filter(
        ({ agentId }) => agentId === session.agentId,
      );
      const { phase } = agent.controller;
      this.#watch.check('rest', { session, phase, deliveries });
    }
  }

  #atRest(): boolean {
    return this.#watch.sessions.every(({ index }) => {
      const controller = this.#sessionOf(index)?.controller;
      const busy = this.#engines[index]?.busy ?? false;
      return !controller || (controller.phase === 'idle' && !busy);
    });
  }

  #tidy(index: number, engine: ModelEngine, round: number): void {
    if (!engine.alive) return;
    const terminal = this.#terminals[index];
    if (engine.openDialog) {
      this.#watch.note(() => `[${index}] a person closes the dialog`);
      if (terminal) terminal.personInput(escapeKey);
      else engine.close();
    } else if (engine.draftPieces.some(({ kind }) => kind === 'typed') || round > 1) {
      if (engine.draftPieces.length > 0) terminal?.personInput(eraseKey);
      else this.#resolveDoubt(index);
    }
    this.#touched = true;
  }

  /** What nothing shows a person has to say; the receipts behind it named the reason all the while. */
  #resolveDoubt(index: number): void {
    const agentId = this.#watch.sessions[index]?.agentId;
    const doubted = [...this.#watch.deliveries.values()].filter(
      (delivery) => delivery.agentId === agentId && delivery.receipt.state === 'unknown',
    );
    for (const { key } of doubted) this.#resolve(key);
  }

  #checkEnd(): void {
    const { calmSession } = this.#plan;
    this.#watch.check('end', { deliveries: [...this.#watch.deliveries.values()], calmSession });
  }
}

export async function runPlan(plan: Plan, options: RunOptions = {}): Promise<Outcome> {
  try {
    return await new World(plan, options).run();
  } catch (failure) {
    throw new CodedError('SIMULATION_FAILED', `seed ${plan.seed} could not be run`, {
      cause: failure,
    });
  }
}

function describeDo(action: PlannedDo): string {
  return Object.entries(action)
    .filter(([name]) => !['atMs', 'on', 'of', 'nth', 'afterMs'].includes(name))
    .map(([name, value]) => (name === 'do' ? value : `${name}=${JSON.stringify(value)}`))
    .join(' ');
}
