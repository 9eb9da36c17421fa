import { open } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createFrameSplitter } from '@ostler/protocol';
import { ClientError } from '../client-error.js';
import type { Connector } from '../transport.js';

const socketName = 'ostler.sock';
const maxNoteBytes = 4_096;

/** Newline-delimited frames over the Unix socket that `findPath` gives, asked at each attempt. */
export function unixConnector(findPath: () => Promise<string>): Connector {
  return async (sink, { maxIncomingFrameBytes }, signal) => {
    const path = await findPath();
    return await new Promise((resolve, reject) => {
      const socket = createConnection(path);
      const splitter = createFrameSplitter({ maxFrameBytes: maxIncomingFrameBytes });
      let isOpen = false;
      let ended = false;
      const end = (reason: string): void => {
        if (ended) return;
        ended = true;
        signal.removeEventListener('abort', abort);
        if (isOpen) socket.destroySoon();
        else socket.destroy();
        if (isOpen) sink.closed(reason);
        else reject(new ClientError('CONNECT_FAILED', 'not_carried_out', `${path}: ${reason}`));
      };
      const abort = (): void => end('aborted');
      socket.on('connect', () => {
        if (ended) return;
        isOpen = true;
        signal.removeEventListener('abort', abort);
        resolve({
          send(text) {
            if (!ended) socket.write(`${text}\n`);
          },
          close: () => end('closed by this client'),
        });
      });
      socket.on('data', (chunk: Buffer) => {
        for (const frame of splitter.push(chunk)) {
          if (ended) return;
          if (frame.kind === 'frame') sink.frame(frame.text);
          else if (frame.kind === 'too_large') {
            end(`a frame of more than ${maxIncomingFrameBytes} bytes`);
          } else end('a frame that is no UTF-8');
        }
      });
      socket.on('error', (failure) => end((failure as NodeJS.ErrnoException).code ?? 'failed'));
      socket.on('close', () => end('closed by the server'));
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
  };
}

/** The socket of a state directory's daemon: `ostler.sock`, or what `ostler.sock.path` names. */
export async function socketPathOf(stateDir: string): Promise<string> {
  const plain = join(stateDir, socketName);
  let note: string;
  try {
    note = await firstBytes(`${plain}.path`);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return plain;
    throw failure;
  }
  const path = note.trim();
  return path.startsWith('/') && path.endsWith(`/${socketName}`) ? path : plain;
}

async function firstBytes(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxNoteBytes));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
