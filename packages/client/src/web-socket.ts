import { utf8Bytes } from '@ostler/protocol';
import { ClientError } from './client-error.js';
import type { Connector } from './transport.js';

/** What is used of a WebSocket: the browser's own has it, and so has that of `ws`. */
export interface WebSocketLike {
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
  send(text: string): void;
  close(): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

export interface WebSocketOptions {
  /** `ws://` or `wss://`. */
  readonly url: string;
  /** The global one where left out. */
  readonly WebSocket?: WebSocketConstructor;
}

/**
 * One text message a frame. The device's token goes in `ConnectClientOptions.token`: browsers can't
 * set a header. Throws ClientError CONNECT_FAILED where there is no WebSocket.
 */
export function webSocketConnector({ url, WebSocket }: WebSocketOptions): Connector {
  const Socket =
    WebSocket ?? (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket;
  if (!Socket) {
    throw new ClientError(
      'CONNECT_FAILED',
      'not_carried_out',
      'there is no global WebSocket here: give one in the options, or use @ostler/client/node',
    );
  }
  return (sink, { maxIncomingFrameBytes }, signal) =>
    new Promise((resolve, reject) => {
      const socket = new Socket(url);
      let isOpen = false;
      let ended = false;
      const end = (reason: string): void => {
        if (ended) return;
        ended = true;
        signal.removeEventListener('abort', abort);
        socket.close();
        if (isOpen) sink.closed(reason);
        else reject(new ClientError('CONNECT_FAILED', 'not_carried_out', `${url}: ${reason}`));
      };
      const abort = (): void => end('aborted');
      socket.addEventListener('open', () => {
        if (ended) {
          socket.close();
          return;
        }
        isOpen = true;
        signal.removeEventListener('abort', abort);
        resolve({
          send(text) {
            if (!ended) socket.send(text);
          },
          close: () => end('closed by this client'),
        });
      });
      socket.addEventListener('message', ({ data }) => {
        if (ended) return;
        if (typeof data !== 'string') end('a frame that is no text');
        else if (data.length > maxIncomingFrameBytes || utf8Bytes(data) > maxIncomingFrameBytes) {
          end(`a frame of more than ${maxIncomingFrameBytes} bytes`);
        } else sink.frame(data);
      });
      socket.addEventListener('error', () => end('the connection failed'));
      socket.addEventListener('close', () => end('closed by the server'));
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
}
