import { systemClock } from '@ostler/runtime';
import { type CastWriter, type InProcessPty, Screen, spawnPty } from '@ostler/terminal';
import type { RealEngineLaunch } from '../real-engines/real-engine-request.js';
import { pause } from '../sandbox/pause.js';

const lookEveryMs = 25;
const maxQuietWaitMs = 3_000;

interface Running {
  readonly pty: InProcessPty;
  readonly screen: Screen;
}

/** One real engine on one terminal, recorded. */
export class Rig implements AsyncDisposable {
  readonly #cast: CastWriter;
  readonly #launch: RealEngineLaunch;
  #cols: number;
  #rows: number;
  #running: Running | null = null;
  #lastOutputMs = 0;

  constructor(options: {
    launch: RealEngineLaunch;
    cast: CastWriter;
    cols: number;
    rows: number;
  }) {
    this.#cast = options.cast;
    this.#launch = options.launch;
    this.#cols = options.cols;
    this.#rows = options.rows;
  }

  async start(args: readonly string[]): Promise<void> {
    const pty = await spawnPty({
      file: this.#launch.command,
      args,
      cols: this.#cols,
      rows: this.#rows,
      cwd: this.#launch.cwd,
      env: this.#launch.env,
    });
    const screen = new Screen({
      cols: this.#cols,
      rows: this.#rows,
      onReply: (data) => this.write(data),
    });
    this.#running = { pty, screen };
    pty.onData((data) => {
      this.#lastOutputMs = systemClock.monotonicMs();
      this.#cast.output(data);
      screen.feed(data);
    });
    pty.onExit(({ exitCode, signal }) => {
      this.#cast.mark(`exit ${JSON.stringify({ exitCode, signal })}`);
    });
  }

  get alive(): boolean {
    return this.#running?.pty.exit === null;
  }

  write(data: string): void {
    const bytes = Buffer.from(data);
    this.#cast.input(bytes);
    void this.#running?.pty.write(bytes);
  }

  mark(label: string): void {
    this.#cast.mark(label);
  }

  resize(cols: number, rows: number): void {
    this.#cols = cols;
    this.#rows = rows;
    this.#cast.resize(cols, rows);
    this.#running?.screen.resize(cols, rows);
    this.#running?.pty.resize(cols, rows);
  }

  async text(): Promise<string> {
    const snapshot = await this.#running?.screen.look();
    return snapshot?.rows.map((row) => row.text).join('\n') ?? '';
  }

  /** True once the screen fulfils `wanted`; false at the deadline or when the engine ends first. */
  async until(wanted: (text: string) => boolean, timeoutMs: number): Promise<boolean> {
    const deadlineMs = systemClock.monotonicMs() + timeoutMs;
    while (systemClock.monotonicMs() < deadlineMs) {
      if (wanted(await this.text())) return true;
      if (!this.alive) return false;
      await pause(systemClock, lookEveryMs);
    }
    return false;
  }

  /** Waits until nothing was written for so long; a screen that never rests ends the wait too. */
  async quiet(forMs: number): Promise<void> {
    const startedMs = systemClock.monotonicMs();
    while (systemClock.monotonicMs() < startedMs + maxQuietWaitMs) {
      const restingSinceMs = Math.max(startedMs, this.#lastOutputMs);
      if (systemClock.monotonicMs() - restingSinceMs >= forMs) return;
      await pause(systemClock, lookEveryMs);
    }
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    await running.pty.close();
    running.screen[Symbol.dispose]();
    this.#running = null;
  }

  async restart(args: readonly string[]): Promise<void> {
    await this.stop();
    this.#cast.output(Buffer.from('\u001bc'));
    await this.start(args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
