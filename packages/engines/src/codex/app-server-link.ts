import { type Clock } from '@ostler/runtime';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ownSocket } from '../doors/own-socket.js';
import { Refusal } from '../doors/refusal.js';

const openTimeoutMs = 5_000;
const callTimeoutMs = 10_000;
const maxFrameBytes: number = 4 * 1024 * 1024;

const answer = z.looseObject({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number().optional() }).optional(),
});

/**
 * JSON-RPC over a Unix WebSocket of an app-server (`unix://PATH`, codex 0.169.0): frames have
 * no `jsonrpc` field. One call at a time, each with a limit.
 */
export class AppServerLink implements Disposable {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #calls = 0;

  private constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Throws Refusal where nothing listens, or where it does not answer. */
  static async open(path: string, clock: Clock, client: string): Promise<AppServerLink> {
    const socket = new WebSocket(`ws+unix://${ownSocket(path)}:/`, {
      perMessageDeflate: false,
      maxPayload: maxFrameBytes,
      handshakeTimeout: openTimeoutMs,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    // Later errors close the socket, which ends the call under way.
    socket.on('error', () => undefined);
    const link = new AppServerLink(socket, clock);
    try {
      await link.call('initialize', {
        clientInfo: { name: client, version: '0.1.0' },
        capabilities: { experimentalApi: true },
      });
      socket.send(JSON.stringify({ method: 'initialized' }));
      return link;
    } catch (failure) {
      link[Symbol.dispose]();
      throw failure;
    }
  }

  async call(method: string, params: object): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    return await new Promise<unknown>((resolve, reject) => {
      const socket = this.#socket;
      const finish = (act: () => void): void => {
        timer[Symbol.dispose]();
        socket.off('message', take);
        socket.off('close', closed);
        act();
      };
      const refuse = (reason: string, message: string): void =>
        finish(() => reject(new Refusal(reason, message)));
      const closed = (): void => refuse('codex_connection_closed', 'the server hung up');
      const take = (data: { toString(): string }): void => {
        const frame = parseFrame(data.toString());
        if (frame === null || frame.id !== id) return;
        if (frame.error !== undefined) {
          refuse(`codex_rpc_rejected:${frame.error.code ?? ''}`, `the server refused ${method}`);
        } else finish(() => resolve(frame.result));
      };
      const timer = this.#clock.setTimer(callTimeoutMs, () =>
        refuse('codex_rpc_timeout', `no answer to ${method} within ${callTimeoutMs} ms`),
      );
      socket.on('message', take);
      socket.once('close', closed);
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, method, params }));
      else closed();
    });
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}

function parseFrame(text: string): z.infer<typeof answer> | null {
  try {
    return answer.parse(JSON.parse(text));
  } catch (failure) {
    if (failure instanceof SyntaxError || failure instanceof z.ZodError) return null;
    throw failure;
  }
}
