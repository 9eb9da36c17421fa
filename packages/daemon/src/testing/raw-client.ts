import { createConnection, type Socket } from 'node:net';
import { createFrameSplitter } from '@ostler/protocol';
import { randomIds } from '@ostler/runtime';

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** Plain frames over a Unix socket: what a client sees that knows only the contract. */
export class RawClient implements Disposable {
  readonly frames: Frame[] = [];
  readonly #socket: Socket;
  #onFrame: ((frame: Frame) => void) | null = null;
  readonly #watchers = new Set<() => void>();
  ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const splitter = createFrameSplitter({ maxFrameBytes: 16 * 1024 * 1024 });
    socket.on('data', (chunk: Buffer) => {
      for (const frame of splitter.push(chunk)) {
        if (frame.kind !== 'frame') continue;
        const taken = JSON.parse(frame.text) as Frame;
        this.frames.push(taken);
        this.#onFrame?.(taken);
      }
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.ended = true;
      this.#wake();
    });
  }

  static connect(path: string): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(path, () => resolve(new RawClient(socket)));
      socket.once('error', reject);
    });
  }

  /** Connected, and greeted as the machine's own user. */
  static async local(path: string, fields: object = {}): Promise<RawClient> {
    const client = await RawClient.connect(path);
    await client.hello(fields);
    return client;
  }

  hello(fields: object = {}): Promise<Frame> {
    return this.call('hello', { proto: 1, capabilities: ['input.status.v1'], ...fields });
  }

  async call(type: string, fields: object = {}): Promise<Frame> {
    const requestId = randomIds.uuid();
    this.write(JSON.stringify({ type, requestId, ...fields }));
    return await this.frame((frame) => frame['requestId'] === requestId);
  }

  write(line: string): void {
    this.#socket.write(`${line}\n`);
  }

  writeBytes(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#onFrame = listener;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The first frame, past ones included, that `wanted` takes. */
  async frame(wanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(wanted);
      if (found) return found;
      if (this.ended) throw new Error('the connection ended before such a frame came');
      await this.#change();
    }
  }

  async untilEnd(): Promise<void> {
    while (!this.ended) await this.#change();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const watcher = (): void => {
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

export function codeOf(frame: Frame): string | null {
  const error = frame['error'] as { readonly code: string } | undefined;
  return error?.code ?? null;
}
