import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('daemon-program.mjs', import.meta.url));

/** A daemon of the built packages in a process of its own. */
export class DaemonProcess {
  readonly socketPath: string;
  /** From the program's first line to serving. */
  readonly startMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, ready: { socketPath: string; startMs: number }) {
    this.#child = child;
    this.socketPath = ready.socketPath;
    this.startMs = ready.startMs;
  }

  static async start(stateDir: string): Promise<DaemonProcess> {
    const child = spawn(process.execPath, [program, stateDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`the daemon ended with ${code} before it served`);
      }),
    ]);
    return new DaemonProcess(child, JSON.parse(String(line)));
  }

  /** SIGKILL; resolves when it has gone. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}
