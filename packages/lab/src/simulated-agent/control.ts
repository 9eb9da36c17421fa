import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CodedError, systemClock } from '@ostler/runtime';
import type { ReceivedText } from '../model-server/received-ledger.js';
import type { Action, DialogKind, DialogSpec } from './script.js';
import { type TruthEvent, type TruthKind, truthSchema } from './truth.js';

const maxEvents = 100_000;
const maxLineCharacters = 1024 * 1024;

/** Every distinct text the model was given, in order of its first time. */
export function countReceived(events: readonly TruthEvent[]): readonly ReceivedText[] {
  const counts = new Map<string, number>();
  for (const { event, text } of events) {
    if (event === 'model_received' && text !== undefined) {
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  return [...counts].map(([text, count]) => ({ text, count }));
}

/** The test's end of the control channel: commands to the simulated agent, and its truth. */
export class SimulatedControl implements AsyncDisposable {
  /** Private directory of this agent. */
  readonly dir: string;
  readonly socketPath: string;
  readonly truthPath: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #events: TruthEvent[] = [];
  readonly #watchers = new Set<() => void>();
  #unsent: string[] = [];

  private constructor(dir: string, server: Server) {
    this.dir = dir;
    this.socketPath = path.join(dir, 'control.sock');
    this.truthPath = path.join(dir, 'truth.jsonl');
    this.#server = server;
    server.on('connection', (socket) => this.#take(socket));
  }

  static async listen(): Promise<SimulatedControl> {
    const dir = await mkdtemp(path.join(tmpdir(), 'simulated-'));
    const server = createServer();
    const control = new SimulatedControl(dir, server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(control.socketPath, resolve);
    });
    server.unref();
    return control;
  }

  /** All truth so far, in order. */
  get events(): readonly TruthEvent[] {
    return this.#events;
  }

  received(): readonly ReceivedText[] {
    return countReceived(this.#events);
  }

  /** Has the agent carry out `action`; resolves when it has. */
  async act(action: Action): Promise<void> {
    const line = JSON.stringify(action);
    const seen = this.#events.length;
    this.#send(`${line}\n`);
    const done = await this.waitFor(
      (event) => (event.event === 'done' || event.event === 'refused') && event.text === line,
      { from: seen },
    );
    if (done.event === 'refused') {
      throw new CodedError('SIMULATED_ACTION_REFUSED', `The simulated agent refused: ${done.why}`);
    }
  }

  async release(name: string): Promise<void> {
    await this.act({ do: 'release', name });
  }

  async open(dialog: DialogKind | DialogSpec): Promise<void> {
    await this.act({ do: 'open', dialog });
  }

  /** Closes the open dialog without a key. */
  async close(): Promise<void> {
    await this.act({ do: 'close' });
  }

  /** Ends the program; it may be gone before it could say so. */
  exit(code = 0): void {
    this.#send(`${JSON.stringify({ do: 'exit', code } satisfies Action)}\n`);
  }

  crash(): void {
    this.#send(`${JSON.stringify({ do: 'crash' } satisfies Action)}\n`);
  }

  /**
   * The first event that fits, from event number `from` on (0: the whole past).
   * Throws CodedError SIMULATED_TRUTH_TIMEOUT.
   */
  async waitFor(
    wanted: TruthKind | ((event: TruthEvent) => boolean),
    options: { readonly from?: number; readonly timeoutMs?: number } = {},
  ): Promise<TruthEvent> {
    const fits =
      typeof wanted === 'string' ? (event: TruthEvent) => event.event === wanted : wanted;
    const from = options.from ?? 0;
    const timeoutMs = options.timeoutMs ?? 15_000;
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const found = this.#events.slice(from).find(fits);
        if (!found) return false;
        this.#watchers.delete(look);
        timer[Symbol.dispose]();
        resolve(found);
        return true;
      };
      const timer = systemClock.setTimer(timeoutMs, () => {
        this.#watchers.delete(look);
        const last = this.#events.slice(-8).map((event) => event.event);
        const name = typeof wanted === 'string' ? wanted : 'a fitting event';
        reject(
          new CodedError(
            'SIMULATED_TRUTH_TIMEOUT',
            `No ${name} within ${timeoutMs} ms; the last events were: ${last.join(', ')}.`,
          ),
        );
      });
      if (!look()) this.#watchers.add(look);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) {
      await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  #send(line: string): void {
    const socket = [...this.#sockets].at(-1);
    if (socket) socket.write(line);
    else this.#unsent.push(line);
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    socket.unref();
    socket.setEncoding('utf8');
    for (const line of this.#unsent.splice(0)) socket.write(line);
    let pending = '';
    socket.on('data', (data: string) => {
      pending += data;
      if (pending.length > maxLineCharacters) socket.destroy();
      const lines = pending.split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) this.#note(line);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #note(line: string): void {
    if (this.#events.length >= maxEvents) return;
    this.#events.push(truthSchema.parse(JSON.parse(line)));
    for (const watcher of [...this.#watchers]) watcher();
  }
}
