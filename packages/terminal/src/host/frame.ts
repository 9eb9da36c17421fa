import { CodedError } from '@ostler/runtime';
import type { HostErrorCode } from './host-errors.js';

/**
 * One message: what it says, and bytes that are never anything else.
 *
 *     u32 bytes that follow · u8 kind · u32 bytes of JSON · JSON · raw bytes
 *
 * Kind 1 is the only one so far. A frame of another kind is passed over whole, and its
 * sender told so.
 */
export interface Frame {
  readonly kind: number;
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
}

/** The most one frame may hold behind its length. */
export const maxFrameBytes: number = 4 * 1024 * 1024;
/** The same before the other side has shown its token. */
export const maxGreetingBytes: number = 4 * 1024;

export const messageKind = 1;
const lengthBytes = 4;
const fixedBytes = 5;
const none: Uint8Array = new Uint8Array(0);

export function encodeFrame(head: object, body: Uint8Array = none): Buffer {
  const json = JSON.stringify(head);
  const jsonBytes = Buffer.byteLength(json);
  const followBytes = fixedBytes + jsonBytes + body.length;
  if (followBytes > maxFrameBytes)
    throw new CodedError<HostErrorCode>(
      'HOST_BAD_REQUEST',
      `a message of ${followBytes} bytes is more than the ${maxFrameBytes} of one frame; make it smaller`,
    );
  const frame = Buffer.allocUnsafe(lengthBytes + followBytes);
  frame.writeUInt32BE(followBytes, 0);
  frame[lengthBytes] = messageKind;
  frame.writeUInt32BE(jsonBytes, lengthBytes + 1);
  frame.write(json, lengthBytes + fixedBytes, 'utf8');
  frame.set(body, lengthBytes + fixedBytes + jsonBytes);
  return frame;
}

/** Puts frames together from chunks cut anywhere. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = lengthBytes;
  maxBytes: number;

  constructor(maxBytes: number = maxFrameBytes) {
    this.maxBytes = maxBytes;
  }

  /** Throws CodedError HOST_FRAME_BAD: what follows can't be told apart any more. */
  push(chunk: Buffer, take: (frame: Frame) => void): void {
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return;
    const [first] = this.#chunks;
    let rest = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    for (;;) {
      if (rest.length < lengthBytes) {
        this.#neededBytes = lengthBytes;
        break;
      }
      const followBytes = rest.readUInt32BE(0);
      if (followBytes < fixedBytes || followBytes > this.maxBytes) throw badFrame('its length');
      if (rest.length < lengthBytes + followBytes) {
        this.#neededBytes = lengthBytes + followBytes;
        break;
      }
      const frame = decode(rest.subarray(lengthBytes, lengthBytes + followBytes));
      rest = rest.subarray(lengthBytes + followBytes);
      take(frame);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#heldBytes = rest.length;
  }
}

function decode(bytes: Buffer): Frame {
  const kind = bytes[0] ?? 0;
  if (kind !== messageKind) return { kind, head: {}, body: none };
  const jsonBytes = bytes.readUInt32BE(1);
  if (fixedBytes + jsonBytes > bytes.length) throw badFrame('the length of its head');
  let head: unknown;
  try {
    head = JSON.parse(bytes.toString('utf8', fixedBytes, fixedBytes + jsonBytes));
  } catch (failure) {
    throw badFrame('its head', failure);
  }
  if (!isRecord(head)) throw badFrame('its head');
  return { kind, head, body: bytes.subarray(fixedBytes + jsonBytes) };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function badFrame(what: string, cause?: unknown): CodedError<HostErrorCode> {
  return new CodedError('HOST_FRAME_BAD', `a frame is broken: ${what} won't do; connect anew`, {
    cause,
  });
}
