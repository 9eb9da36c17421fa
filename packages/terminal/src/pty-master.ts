import { readSync, writeSync } from 'node:fs';
import type { IPty } from 'node-pty';
import type { WriteSink } from './write-queue.js';

/**
 * The only place that looks past node-pty's public API (1.1.0): the terminal's
 * descriptor and the stream that owns it. The stream closes the descriptor itself,
 * so its `destroyed` is read before every call; a closed number may already be
 * somebody else's file.
 */
interface MasterFields {
  readonly fd: number;
  readonly _socket: {
    readonly destroyed: boolean;
    readonly readableLength: number;
    read(): unknown;
    destroy(error?: Error): unknown;
  };
}

export interface PtyMaster extends WriteSink {
  /** Bytes waiting in the kernel, at most `maxBytes`; null when there are none or they are not ours to take. */
  read(maxBytes: number): Uint8Array | null;
  /**
   * Calls `drain` right before the descriptor is closed. node-pty closes it 200 ms
   * after the child's end, read to its end or not: whoever was busy for so long would
   * never see the last output.
   */
  beforeClose(drain: () => void): void;
}

/** Read into and copied from within one call. */
let scratch: Uint8Array = new Uint8Array(0);

function codeOf(failure: unknown): string {
  if (failure instanceof Error && 'code' in failure) return String(failure.code);
  throw failure;
}

/** Null when this node-pty doesn't have what we need; the public, unproven write remains then. */
export function openMaster(pty: IPty): PtyMaster | null {
  const fields = pty as unknown as Partial<MasterFields>;
  const { fd, _socket: socket } = fields;
  if (
    typeof fd !== 'number' ||
    typeof socket?.destroyed !== 'boolean' ||
    typeof socket.readableLength !== 'number' ||
    typeof socket.destroy !== 'function' ||
    typeof socket.read !== 'function'
  )
    return null;
  return {
    take(data) {
      if (socket.destroyed) return { failed: 'pty_closed' };
      try {
        return writeSync(fd, data);
      } catch (failure) {
        const code = codeOf(failure);
        return code === 'EAGAIN' ? 'full' : { failed: code };
      }
    },
    read(maxBytes) {
      // What the stream has already taken in comes before what the kernel still holds.
      if (socket.destroyed || socket.readableLength > 0) return null;
      // There is seldom something to read: only what there is gets memory of its own.
      if (scratch.length < maxBytes) scratch = new Uint8Array(maxBytes);
      const { stackTraceLimit } = Error;
      // "Nothing there" comes as an error, at every look; nobody reads where it was made.
      Error.stackTraceLimit = 0;
      try {
        const length = readSync(fd, scratch, 0, maxBytes, null);
        return length === 0 ? null : scratch.slice(0, length);
      } catch (failure) {
        // EAGAIN: nothing there. EIO: the child's side is closed; the stream sees that too.
        codeOf(failure);
        return null;
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    },
    beforeClose(drain) {
      const destroy = socket.destroy;
      socket.destroy = (error) => {
        if (!socket.destroyed) {
          // What a paused stream has taken in comes out as a data event.
          if (socket.readableLength > 0) socket.read();
          drain();
        }
        return destroy.call(socket, error);
      };
    },
  };
}
