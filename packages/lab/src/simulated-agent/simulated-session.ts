import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type {
  EngineEvent,
  EngineObserver,
  EngineReader,
  LaunchPlan,
  Reading,
} from '@ostler/engines';
import { CodedError, Disposables, silentLogger, systemClock } from '@ostler/runtime';
import { AgentTerminal, pasteEnd, pasteStart, type ScreenSnapshot } from '@ostler/terminal';
import type { SimulatedControl } from './control.js';
import { simulatedEngine } from './engine.js';
import { simulatedLaunch } from './launch.js';
import type { ScriptInput } from './script.js';

/** A simulated agent on a terminal of its own, with its reader, its record and its truth, and nobody in between. */
export class SimulatedSession implements AsyncDisposable {
  readonly control: SimulatedControl;
  readonly terminal: AgentTerminal;
  readonly reader: EngineReader;
  readonly plan: LaunchPlan;
  /** What the session record said so far. */
  readonly events: EngineEvent[] = [];
  readonly #owned: Disposables;
  readonly #watchers = new Set<() => void>();

  private constructor(
    owned: Disposables,
    control: SimulatedControl,
    terminal: AgentTerminal,
    plan: LaunchPlan,
  ) {
    this.#owned = owned;
    this.control = control;
    this.terminal = terminal;
    this.plan = plan;
    this.reader = simulatedEngine.reader(plan.version);
    terminal.onChange(() => this.#wake());
  }

  static async open(
    script: ScriptInput,
    size: { readonly cols: number; readonly rows: number } = { cols: 80, rows: 24 },
  ): Promise<SimulatedSession> {
    const owned = new Disposables();
    try {
      const launch = owned.own(await simulatedLaunch({ script }));
      const sessionDir = await mkdtemp(path.join(tmpdir(), 'simulated-session-'));
      owned.defer(() => rm(sessionDir, { recursive: true, force: true }));
      const request = { ...launch, sessionDir };
      const plan = await simulatedEngine.planLaunch(request);
      const terminal = owned.own(await AgentTerminal.launch({ ...plan, cwd: launch.cwd, ...size }));
      const session = new SimulatedSession(owned, launch.control, terminal, plan);
      const observer: EngineObserver = simulatedEngine.observe({
        plan,
        request,
        process: terminal.identity,
        launchedAtMs: systemClock.nowMs(),
        clock: systemClock,
        logger: silentLogger,
        onEvent: (event) => {
          session.events.push(event);
          session.#wake();
        },
      });
      owned.own(observer);
      return session;
    } catch (failure) {
      await owned[Symbol.asyncDispose]();
      throw failure;
    }
  }

  /** Opens, and waits until the composer takes keys. */
  static async openReady(
    this: void,
    script: ScriptInput = {},
    size?: { readonly cols: number; readonly rows: number },
  ): Promise<SimulatedSession> {
    const session = await SimulatedSession.open(script, size);
    try {
      await session.ready();
      return session;
    } catch (failure) {
      await session[Symbol.asyncDispose]();
      throw failure;
    }
  }

  /** Raw keys, at once. */
  type(data: string): void {
    this.terminal.personInput(data);
  }

  paste(text: string): void {
    this.type(pasteStart + text + pasteEnd);
  }

  async look(): Promise<{ readonly reading: Reading; readonly snapshot: ScreenSnapshot }> {
    const snapshot = await this.terminal.look();
    return { snapshot, reading: this.reader.read(snapshot) };
  }

  /**
   * The first reading that fits; looked for at every change of the screen or the record.
   * Throws CodedError SIMULATED_SCREEN_TIMEOUT.
   */
  async until(
    fits: (reading: Reading, snapshot: ScreenSnapshot) => boolean,
    timeoutMs = 8_000,
  ): Promise<{ readonly reading: Reading; readonly snapshot: ScreenSnapshot }> {
    let late = false;
    using _timer = systemClock.setTimer(timeoutMs, () => {
      late = true;
      this.#wake();
    });
    for (;;) {
      const woken = this.#nextWake();
      const seen = await this.look();
      if (fits(seen.reading, seen.snapshot)) return seen;
      if (late) {
        const rows = seen.snapshot.rows.map((row) => row.text).join('\n');
        throw new CodedError(
          'SIMULATED_SCREEN_TIMEOUT',
          `Not seen in ${timeoutMs} ms; last:\n${rows}`,
        );
      }
      await woken;
    }
  }

  /** The composer takes keys. */
  async ready(): Promise<void> {
    await this.until((reading) => reading.composer !== null);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }

  #nextWake(): Promise<void> {
    return new Promise((resolve) => this.#watchers.add(resolve));
  }

  #wake(): void {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
  }
}
