import { readFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { maxFrameBytes } from '@ostler/protocol';
import { type Clock, CodedError, type Logger, type Timer } from '@ostler/runtime';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { isLoopback, namesOf, type OriginRules, refusalOf } from './origin.js';
import type { Accept, Listener, Transport, TransportSink } from './transport.js';

export interface WebSocketOptions extends OriginRules {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Files in PEM form. Needed beyond loopback. */
  readonly tls?: { readonly certPath: string; readonly keyPath: string };
  readonly pingIntervalMs: number;
  /** False: too many connections. */
  readonly mayConnect: (address: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

const maxUnreadPongsBytes: number = 4 * 1024 * 1024;
/** How long a closing connection may take to send what waits. */
const closeWithinMs = 2_000;
const requestWithinMs = 10_000;
/** How often late requests are looked for. */
const timely = { connectionsCheckingInterval: 5_000 } as const;
const closeCodes = { policy: 1008, tooLarge: 1009, tryLater: 1013 } as const;

/**
 * One text message a frame. Beyond loopback only with TLS.
 * Throws CodedError LISTEN_NEEDS_TLS, LISTEN_FAILED.
 */
export async function listenWebSocket(
  options: WebSocketOptions,
  accept: Accept,
): Promise<Listener> {
  const { clock, host, logger, pingIntervalMs, tls } = options;
  if (!tls && !isLoopback(host)) {
    throw new CodedError(
      'LISTEN_NEEDS_TLS',
      `${host} is reachable from other machines: give a certificate (--tls-cert, --tls-key), or listen on 127.0.0.1`,
    );
  }
  const server = tls ? secureServer(tls) : createHttp(timely, refuseRequest);
  // A request that is no upgrade may not keep a connection to itself.
  server.headersTimeout = requestWithinMs;
  server.requestTimeout = requestWithinMs;
  server.keepAliveTimeout = 1;
  const { port } = await listening(server, options);
  const names = namesOf(host, port);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: true,
    autoPong: false,
  });
  server.on('upgrade', (request, socket, head) => {
    const address = request.socket.remoteAddress ?? 'unknown';
    const refusal = refusalOf(request, names, options);
    if (refusal !== null) {
      logger.warn({ address, refusal }, 'a connection was refused');
      refuseUpgrade(socket, 403, refusal);
    } else if (!options.mayConnect(address)) {
      logger.warn({ address }, 'a connection was refused: too many, or too many wrong tokens');
      refuseUpgrade(socket, 429, 'too many connections, or too many wrong tokens');
    } else {
      sockets.handleUpgrade(request, socket, head, (peer) =>
        serve(peer, request, address, accept, options),
      );
    }
  });
  const heartbeat = startHeartbeat(sockets, clock, pingIntervalMs);
  return {
    address: `${tls ? 'wss' : 'ws'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    stop: () => void server.close(),
    async [Symbol.asyncDispose]() {
      heartbeat[Symbol.dispose]();
      for (const peer of sockets.clients) peer.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function secureServer(tls: { readonly certPath: string; readonly keyPath: string }): Server {
  try {
    const files = { cert: readFileSync(tls.certPath), key: readFileSync(tls.keyPath) };
    return createHttps(
      { ...files, ...timely, minVersion: 'TLSv1.2', handshakeTimeout: requestWithinMs },
      refuseRequest,
    );
  } catch (failure) {
    throw new CodedError('LISTEN_FAILED', `the certificate or its key can't be used`, {
      cause: failure,
    });
  }
}

function listening(server: Server, { host, port }: WebSocketOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (failure) =>
      reject(
        new CodedError(
          'LISTEN_FAILED',
          `nobody can listen on ${host}:${port}: ${failure.message}`,
          {
            cause: failure,
          },
        ),
      ),
    );
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

const refuseRequest: Parameters<typeof createHttp>[1] = (_request, response) => {
  response.writeHead(426, { 'content-type': 'text/plain', connection: 'close' });
  response.end('this is a WebSocket\n');
};

/** The HTTP server has let go of the socket: its errors and its end are ours from here on. */
function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.once('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  const words = status === 403 ? 'Forbidden' : 'Too Many Requests';
  socket.end(
    `HTTP/1.1 ${status} ${words}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${reason.length}\r\n\r\n${reason}`,
  );
}

function serve(
  peer: WebSocket,
  request: IncomingMessage,
  address: string,
  accept: Accept,
  { clock, logger }: Pick<WebSocketOptions, 'clock' | 'logger'>,
): void {
  let sink: TransportSink | null = null;
  peer.on('error', (failure) => {
    const { code } = failure as NodeJS.ErrnoException;
    logger.debug({ address, code }, 'a connection failed');
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') sink?.broken('too_large');
    if (code === 'WS_ERR_INVALID_UTF8') sink?.broken('not_utf8');
  });
  sink = accept(webSocketTransport(peer, request, address, clock));
  if (!sink) {
    peer.close(closeCodes.tryLater);
    return;
  }
  const taken = sink;
  peer.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) taken.broken('not_utf8');
    else taken.frame((data as Buffer).toString('utf8'));
  });
  peer.on('ping', (data: Buffer) => {
    // Whoever pings without reading the answers would have us keep them all.
    if (peer.bufferedAmount > maxUnreadPongsBytes) peer.terminate();
    else if (peer.readyState === WebSocket.OPEN) peer.pong(data);
  });
  peer.once('close', () => taken.closed());
}

function webSocketTransport(
  peer: WebSocket,
  request: IncomingMessage,
  address: string,
  clock: Clock,
): Transport {
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
  return {
    kind: 'websocket',
    address,
    bearer,
    get unsentBytes() {
      return peer.bufferedAmount;
    },
    send(text) {
      if (peer.readyState === WebSocket.OPEN) peer.send(text);
    },
    whenDrained(callback) {
      if (peer.bufferedAmount === 0) setImmediate(callback);
      else request.socket.once('drain', callback);
    },
    close(reason) {
      // What was sent goes first; a peer that takes nothing is not waited for.
      const patience = clock.setTimer(closeWithinMs, () => peer.terminate());
      peer.once('close', () => patience[Symbol.dispose]());
      peer.close(closeCodes.policy, reason.slice(0, 100));
    },
  };
}

/** Ends peers that are no longer there: whoever did not answer the last ping. */
function startHeartbeat(sockets: WebSocketServer, clock: Clock, intervalMs: number): Disposable {
  const silent = new WeakSet<WebSocket>();
  let timer: Timer;
  const beat = (): void => {
    for (const peer of sockets.clients) {
      if (silent.has(peer)) {
        peer.terminate();
        continue;
      }
      silent.add(peer);
      peer.once('pong', () => silent.delete(peer));
      peer.ping();
    }
    timer = clock.setTimer(intervalMs, beat);
  };
  timer = clock.setTimer(intervalMs, beat);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
