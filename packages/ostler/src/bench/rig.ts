import { join } from 'node:path';
import { type Clock, Disposables, randomIds, silentLogger, systemClock } from '@ostler/runtime';
import { type AgentSession, Service } from '@ostler/service';
import { openStore, type ReceiptStore } from '@ostler/store';
import type { ScreenSnapshot } from '@ostler/terminal';
import { builtInEngines } from '../built-in-engines.js';
import { Ostler } from '../create-ostler.js';
import { launchRequest } from '../launch-options.js';
import type { BenchAgent } from './bench-agent.js';

/** Put into the recording at the moment they name. What follows the word is free of blanks. */
export type MarkWord =
  /** `turnSend` is called right after it. */
  | 'send'
  /** The `receipt.updated` event that first says accepted has arrived. */
  | 'accepted'
  /** An observation beside the screen has reached the controller. */
  | 'beside'
  | 'lease'
  | 'released'
  | 'blind';

const screenQuietMs = 400;
const quietWithinMs = 30_000;

/** The house as `createOstler` builds it, with one agent, and marks in the agent's recording. */
export class BenchRig implements AsyncDisposable {
  readonly ostler: Ostler;
  readonly session: AgentSession;
  readonly castPath: string;
  readonly clock: Clock;
  /** Of each delivery in turn: what its reservation and its dispatch mark took to be on the disk. */
  readonly diskMs: readonly number[];
  readonly #owned: Disposables;

  private constructor(parts: {
    diskMs: readonly number[];
    ostler: Ostler;
    session: AgentSession;
    castPath: string;
    clock: Clock;
    owned: Disposables;
  }) {
    this.ostler = parts.ostler;
    this.session = parts.session;
    this.castPath = parts.castPath;
    this.clock = parts.clock;
    this.diskMs = parts.diskMs;
    this.#owned = parts.owned;
    this.#markWhatHappens();
  }

  static async open(agent: BenchAgent, clock: Clock = systemClock): Promise<BenchRig> {
    const owned = new Disposables();
    try {
      const stateDir = join(agent.dir, 'state');
      const castPath = join(agent.dir, 'session.cast');
      const diskMs: number[] = [];
      const timed = (store: ReceiptStore): void => timeDisk(store, clock, diskMs);
      const service = owned.own(openService(stateDir, agent, clock, timed));
      const session = await service.launch({ ...launchRequest(agent.launch), castPath });
      const ostler = new Ostler(service, randomIds);
      return new BenchRig({ diskMs, ostler, session, castPath, clock, owned });
    } catch (failure) {
      await owned[Symbol.asyncDispose]();
      throw failure;
    }
  }

  mark(word: MarkWord, rest = ''): void {
    this.session.terminal.cast?.mark(`${word} ${rest}`);
  }

  /** Resolves once the composer is free and empty, nothing runs, and the screen has stood still. False after half a minute. */
  async quiet(): Promise<boolean> {
    const { reader, terminal } = this.session;
    const isFree = (snapshot: ScreenSnapshot): boolean => {
      const reading = reader.read(snapshot, this.session.sideSignals());
      return (
        reading.hold === null &&
        !reading.busy &&
        reading.composer !== null &&
        reading.composer.draft === ''
      );
    };
    let free = isFree(await terminal.look());
    return await new Promise<boolean>((resolve) => {
      const end = (quiet: boolean): void => {
        subscription[Symbol.dispose]();
        still[Symbol.dispose]();
        limit[Symbol.dispose]();
        resolve(quiet);
      };
      const arm = (): Disposable =>
        this.clock.setTimer(screenQuietMs, () => {
          if (free) end(true);
          else still = arm();
        });
      let still = arm();
      const limit = this.clock.setTimer(quietWithinMs, () => end(false));
      const subscription = terminal.onChange((snapshot) => {
        free = isFree(snapshot);
        still[Symbol.dispose]();
        still = arm();
      });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }

  #markWhatHappens(): void {
    const { controller, terminal } = this.session;
    const { writer } = terminal;
    const acquire = writer.acquire.bind(writer);
    const release = writer.release.bind(writer);
    writer.acquire = () => {
      this.mark('lease');
      return acquire();
    };
    writer.release = (token) => {
      release(token);
      this.mark('released');
    };
    const engineEvent = controller.engineEvent.bind(controller);
    controller.engineEvent = (event) => {
      if (event.kind === 'input_accepted' || event.kind === 'input_consumed') {
        this.mark('beside', event.evidence);
      }
      engineEvent(event);
    };
    const accepted = new Set<string>();
    this.ostler.on('receipt.updated', ({ receipt: { idempotencyKey, input } }) => {
      if (input?.phase !== 'accepted' || accepted.has(idempotencyKey)) return;
      this.mark('accepted', `${idempotencyKey} ${input.evidence ?? 'none'}`);
      accepted.add(idempotencyKey);
    });
  }
}

/** A service on a directory of its own, as `createOstler` makes one. */
export function openService(
  stateDir: string,
  agent: Pick<BenchAgent, 'engines'>,
  clock: Clock,
  prepare: (store: ReceiptStore) => void = () => undefined,
): Service {
  const store = openStore({ stateDir, clock, ids: randomIds });
  prepare(store);
  const builtIn = builtInEngines.filter(({ id }) => !agent.engines.some((own) => own.id === id));
  return new Service({
    store,
    sessionsDir: join(stateDir, 'sessions'),
    engines: [...agent.engines, ...builtIn],
    clock,
    ids: randomIds,
    logger: silentLogger,
    limits: {},
    maxAgents: 200,
  });
}

function timeDisk(store: ReceiptStore, clock: Clock, diskMs: number[]): void {
  const reserve = store.reserve.bind(store);
  const markDispatch = store.markDispatch.bind(store);
  let reserveMs = 0;
  store.reserve = (reservation) => {
    const before = clock.monotonicMs();
    const result = reserve(reservation);
    reserveMs = clock.monotonicMs() - before;
    return result;
  };
  store.markDispatch = (mark) => {
    const before = clock.monotonicMs();
    const result = markDispatch(mark);
    diskMs.push(reserveMs + clock.monotonicMs() - before);
    return result;
  };
}
