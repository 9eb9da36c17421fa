import { ModeMemory } from './mode-memory.js';

const firstCapacityBytes = 16 * 1024;

/**
 * The last bytes of a stream, by their offset since its beginning. Holds at most
 * `maxBytes`; the oldest go first, and what they said of the terminal's modes is kept.
 */
export class ByteLog {
  readonly #maxBytes: number;
  readonly #modes = new ModeMemory();
  #ring: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Offset of the oldest byte that is still here. */
  get start(): number {
    return this.#start;
  }

  /** Offset behind the newest byte. */
  get end(): number {
    return this.#end;
  }

  /** The modes that lost bytes have set, as sequences that set them again. */
  get lostModes(): string {
    return this.#modes.sequences();
  }

  append(data: Uint8Array): void {
    const room = Math.max(0, this.#maxBytes - (this.#end - this.#start));
    if (data.length > room) this.loseUntil(this.#end + data.length - this.#maxBytes, data);
    const kept = data.length > this.#maxBytes ? data.subarray(data.length - this.#maxBytes) : data;
    this.#end += data.length - kept.length;
    this.#reserve(this.#end - this.#start + kept.length);
    for (let done = 0; done < kept.length; ) {
      const at = this.#end % this.#ring.length;
      const part = kept.subarray(done, done + this.#ring.length - at);
      this.#ring.set(part, at);
      done += part.length;
      this.#end += part.length;
    }
  }

  /** At most `maxBytes` from `offset` on, as one view: valid until the next change. */
  view(offset: number, maxBytes: number): Uint8Array {
    if (offset < this.#start || offset >= this.#end) return this.#ring.subarray(0, 0);
    const at = offset % this.#ring.length;
    return this.#ring.subarray(at, Math.min(at + maxBytes, at + this.#end - offset));
  }

  /** Forgets what stands before `offset`: somebody has it safe. */
  trimTo(offset: number): void {
    if (offset <= this.#start) return;
    this.#start = Math.min(offset, this.#end);
    this.#modes.clear();
    if ((this.#end - this.#start) * 8 < this.#ring.length && this.#ring.length > firstCapacityBytes)
      this.#resize(Math.max(firstCapacityBytes, 2 * (this.#end - this.#start)));
  }

  /** Loses what stands before `offset`, which may lie within `next`, the bytes about to be appended. */
  loseUntil(offset: number, next: Uint8Array = new Uint8Array(0)): void {
    while (this.#start < Math.min(offset, this.#end)) {
      const lost = this.view(this.#start, Math.min(offset, this.#end) - this.#start);
      this.#modes.read(lost);
      this.#start += lost.length;
    }
    if (offset <= this.#start) return;
    this.#modes.read(next.subarray(0, offset - this.#end));
    this.#start = offset;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#ring.length) return;
    let capacity = Math.max(firstCapacityBytes, this.#ring.length);
    while (capacity < bytes) capacity *= 2;
    this.#resize(Math.min(capacity, this.#maxBytes));
  }

  #resize(capacity: number): void {
    const old: Uint8Array[] = [];
    let offset = this.#start;
    while (offset < this.#end) {
      const part = this.view(offset, this.#end - offset);
      old.push(part);
      offset += part.length;
    }
    const ring = Buffer.alloc(capacity);
    let to = this.#start;
    for (const part of old)
      for (let done = 0; done < part.length; ) {
        const at = to % capacity;
        const piece = part.subarray(done, done + capacity - at);
        ring.set(piece, at);
        done += piece.length;
        to += piece.length;
      }
    this.#ring = ring;
  }
}
