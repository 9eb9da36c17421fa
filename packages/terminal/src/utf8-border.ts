/** How many bytes at the end of `data` begin a UTF-8 character that isn't complete yet: 0 to 3. */
function unfinishedBytes(data: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= data.length; back += 1) {
    const byte = data[data.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return needed > back ? back : 0;
  }
  return 0;
}

/**
 * Moves a character that a chunk border cuts into the chunk that completes it.
 *
 * The terminal's own decoder loses some of them (@xterm/headless 6.0.0): it takes a
 * kept continuation byte 0x80 for the end of what it kept, so `…`, `’`, `—` and all of
 * U+2000 to U+203F vanish when a read ends after their second byte.
 */
export class Utf8Border {
  #kept: Uint8Array | null = null;

  /** Of what was given, so many bytes have not come out yet. */
  get keptBytes(): number {
    return this.#kept?.length ?? 0;
  }

  /** `data` with what was kept before it, without what its end leaves unfinished. */
  join(data: Uint8Array): Uint8Array {
    let whole = data;
    if (this.#kept) {
      whole = new Uint8Array(this.#kept.length + data.length);
      whole.set(this.#kept);
      whole.set(data, this.#kept.length);
      this.#kept = null;
    }
    const unfinished = unfinishedBytes(whole);
    if (unfinished === 0) return whole;
    this.#kept = whole.slice(whole.length - unfinished);
    return whole.subarray(0, whole.length - unfinished);
  }
}
