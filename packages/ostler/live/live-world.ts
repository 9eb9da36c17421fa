import { join } from 'node:path';
import {
  defaultRoomDir,
  type ModelScript,
  type ModelServer,
  openSandbox,
  type PinnedEngine,
  prepareRealEngine,
  type RealEngineOptions,
  type Sandbox,
  startModelServer,
} from '@ostler/lab';
import type { Receipt } from '@ostler/protocol';
import { Disposables, systemClock } from '@ostler/runtime';
import { type Agent, createOstler, type Ostler } from 'ostler';
import { Tally } from './tally.js';

export const roomDir: string = defaultRoomDir();
export const enginesDir: string = join(roomDir, '..', '..', '.engines');

const patienceMs = 40_000;
const shownReceipts = 4;
const pressAgainMs = 3_000;

/** One pinned engine behind one Ostler, offline, with the model's own account of what arrived. */
export class LiveWorld implements AsyncDisposable {
  readonly pin: PinnedEngine;
  readonly sandbox: Sandbox;
  readonly model: ModelServer;
  readonly ostler: Ostler;
  readonly agent: Agent;
  readonly tally: Tally;
  readonly #owned: Disposables;

  private constructor(parts: {
    pin: PinnedEngine;
    sandbox: Sandbox;
    model: ModelServer;
    ostler: Ostler;
    agent: Agent;
    owned: Disposables;
  }) {
    this.pin = parts.pin;
    this.sandbox = parts.sandbox;
    this.model = parts.model;
    this.ostler = parts.ostler;
    this.agent = parts.agent;
    this.#owned = parts.owned;
    this.tally = new Tally(parts.pin);
  }

  static async open(
    pin: PinnedEngine,
    options: { script?: ModelScript; engine?: RealEngineOptions; rows?: number } = {},
  ): Promise<LiveWorld> {
    const owned = new Disposables();
    try {
      const sandbox = owned.own(openSandbox({ roomDir, name: 'live' }));
      const model = owned.own(await startModelServer({ script: options.script ?? {} }));
      const ostler = owned.own(await createOstler({ stateDir: join(sandbox.dir, 'state') }));
      const launch = prepareRealEngine({
        ...pin,
        enginesDir,
        homeDir: sandbox.homeDir,
        workDir: sandbox.workDir,
        modelUrl: model.url,
        options: options.engine ?? {},
      });
      const { command, args, cwd, env } = launch;
      const agent = await ostler.launch({
        engine: pin.engine,
        command,
        args,
        cwd,
        env,
        cleanEnv: true,
        rows: options.rows ?? 32,
        ...castOption(pin),
      });
      owned.defer(() => ostler.close());
      return new LiveWorld({ pin, sandbox, model, ostler, agent, owned });
    } catch (failure) {
      await owned[Symbol.asyncDispose]();
      throw failure;
    }
  }

  /** Sends and returns the key. */
  async send(text: string): Promise<string> {
    const idempotencyKey = this.tally.sent(text);
    await this.ostler.turnSend({ agentId: this.agent.agentId, idempotencyKey, text });
    return idempotencyKey;
  }

  receipt(key: string): Receipt {
    const receipt = this.ostler.receiptGet(key);
    if (receipt === null) throw new Error(`no receipt for ${key}`);
    return receipt;
  }

  /** Waits until the receipt says so, or is settled otherwise, or in doubt; throws when none comes. */
  async wait(key: string, until: 'accepted' | 'started' | 'settled'): Promise<Receipt> {
    await this.until(`${until} for ${key}`, () => {
      const { input, state } = this.receipt(key);
      if (['completed', 'rejected', 'unknown'].includes(state)) return true;
      if (until === 'settled') return false;
      return state === 'started' || (until === 'accepted' && input?.phase === 'accepted');
    });
    return this.receipt(key);
  }

  /** Waits for a condition; looks again at every event of the model and of Ostler, and now and then. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadlineMs = systemClock.monotonicMs() + patienceMs;
    while (!(await holds())) {
      if (systemClock.monotonicMs() > deadlineMs) {
        throw new Error(`${what} did not come true within ${patienceMs} ms\n${await this.#show()}`);
      }
      await this.#nextEvent();
    }
  }

  async reading(): Promise<Awaited<ReturnType<Agent['screen']>>['reading']> {
    return (await this.agent.screen()).reading;
  }

  async untilIdle(): Promise<void> {
    await this.until('an idle composer', async () => {
      const { busy, composer, hold, readable } = await this.reading();
      return readable && composer !== null && !busy && hold === null;
    });
  }

  /** Waits until the dialog itself stands on the screen, not only a sign that it will. */
  async untilDialog(hold: string): Promise<void> {
    const words = {
      permission: this.pin.engine === 'claude' ? 'Do you want to' : 'Would you like to',
    };
    await this.until(`the dialog ${hold}`, async () => {
      const reading = await this.reading();
      if (reading.hold !== hold || reading.composer !== null) return false;
      return hold !== 'permission' || (await this.shows(words.permission));
    });
  }

  async shows(text: string): Promise<boolean> {
    return (await this.agent.screen()).rows.some((row) => row.includes(text));
  }

  /** A person clears an unsent draft; nothing is pressed where there is none. */
  async clearDraft(): Promise<void> {
    const draft = async (): Promise<string> => (await this.reading()).composer?.draft ?? '';
    if ((await draft()) !== '') await this.press('\u0003', async () => (await draft()) === '');
  }

  /**
   * A person's key, pressed again every few seconds until it has its effect. `next` says which
   * key it is by what the screen shows.
   */
  async press(
    next: string | (() => Promise<string>),
    effect: () => boolean | Promise<boolean>,
  ): Promise<void> {
    let pressedAtMs = Number.NEGATIVE_INFINITY;
    let last = '';
    await this.until('the effect of a key', async () => {
      if (await effect()) return true;
      const keys = typeof next === 'string' ? next : await next();
      const nowMs = systemClock.monotonicMs();
      if (keys === last && nowMs - pressedAtMs < pressAgainMs) return false;
      pressedAtMs = nowMs;
      last = keys;
      this.agent.personInput(keys);
      return false;
    });
  }

  /**
   * The receipt at its end. What is left in doubt a person resolves, clearing the draft, so that
   * the next input has its turn.
   */
  async settle(key: string): Promise<Receipt> {
    const receipt = await this.wait(key, 'settled');
    if (receipt.state === 'unknown') {
      this.ostler.resolve(this.agent.agentId, receipt.deliveryId, 'not_submitted');
      await this.clearDraft();
    }
    return receipt;
  }

  async #show(): Promise<string> {
    const { rows, reading } = await this.agent.screen();
    const receipts = this.tally.keys().map((key) => JSON.stringify(this.receipt(key)));
    return [...rows, JSON.stringify(reading), ...receipts.slice(-shownReceipts)].join('\n');
  }

  async #nextEvent(): Promise<void> {
    const lookAgainMs = 100;
    await new Promise<void>((resolve) => {
      const subscriptions: Disposable[] = [];
      const wake = (): void => {
        for (const subscription of subscriptions) subscription[Symbol.dispose]();
        resolve();
      };
      subscriptions.push(
        this.model.events.on('received', wake),
        this.ostler.on('receipt.updated', wake),
        systemClock.setTimer(lookAgainMs, wake),
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}

/** OSTLER_LIVE_CASTS=DIR keeps a recording of every session. */
function castOption(pin: PinnedEngine): { castPath?: string } {
  const dir = process.env['OSTLER_LIVE_CASTS'];
  if (dir === undefined || dir === '') return {};
  const name = `${pin.engine}-${pin.version}-${process.pid}-${Math.round(systemClock.monotonicMs())}`;
  return { castPath: join(dir, `${name}.cast`) };
}
