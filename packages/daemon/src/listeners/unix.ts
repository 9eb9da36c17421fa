import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createFrameSplitter } from '@ostler/protocol';
import { type Clock, CodedError, type Logger } from '@ostler/runtime';
import type { SocketPath } from './socket-path.js';
import type { Accept, Listener, Transport } from './transport.js';

/** How long a closing connection may take to send what waits. */
const closeWithinMs = 2_000;

interface UnixOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Newline-delimited JSON over a Unix socket (0600). The state directory's lock is held by the
 * caller, so a socket file that is there already is a dead daemon's.
 * Throws CodedError LISTEN_FAILED.
 */
export async function listenUnix(
  socketPath: SocketPath,
  accept: Accept,
  { clock, logger }: UnixOptions,
): Promise<Listener> {
  const { path } = socketPath;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket, accept, { clock, logger });
  });
  rmSync(path, { force: true });
  await listening(server, path);
  chmodSync(path, 0o600);
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopped ??= new Promise((resolve) => {
      server.close(() => resolve());
    });
    return stopped;
  };
  return {
    address: path,
    stop: () => void stop(),
    async [Symbol.asyncDispose]() {
      const closed = stop();
      for (const socket of sockets) socket.destroy();
      await closed;
      socketPath[Symbol.dispose]();
    },
  };
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Nobody may connect before the mode is set.
    const before = process.umask(0o177);
    const done = (settle: () => void): void => {
      process.umask(before);
      settle();
    };
    server.once('error', (failure) =>
      done(() =>
        reject(
          new CodedError('LISTEN_FAILED', `the socket ${path} can't be opened`, {
            cause: failure,
          }),
        ),
      ),
    );
    server.listen(path, () => done(resolve));
  });
}

function serve(socket: Socket, accept: Accept, { clock, logger }: UnixOptions): void {
  const transport = unixTransport(socket, clock);
  socket.on('error', (failure) =>
    logger.debug({ code: (failure as NodeJS.ErrnoException).code }, 'a local connection failed'),
  );
  const sink = accept(transport);
  if (!sink) {
    socket.destroy();
    return;
  }
  const splitter = createFrameSplitter();
  socket.on('data', (chunk: Buffer) => {
    for (const frame of splitter.push(chunk)) {
      if (frame.kind === 'frame') sink.frame(frame.text);
      else sink.broken(frame.kind);
    }
  });
  socket.once('close', () => sink.closed());
}

function unixTransport(socket: Socket, clock: Clock): Transport {
  return {
    kind: 'unix',
    address: 'unix',
    bearer: null,
    get unsentBytes() {
      return socket.writableLength;
    },
    send(text) {
      if (socket.writable) socket.write(`${text}\n`);
    },
    whenDrained(callback) {
      if (socket.writableLength === 0) setImmediate(callback);
      else socket.once('drain', callback);
    },
    close() {
      const patience = clock.setTimer(closeWithinMs, () => socket.destroy());
      socket.once('close', () => patience[Symbol.dispose]());
      socket.destroySoon();
    },
  };
}
