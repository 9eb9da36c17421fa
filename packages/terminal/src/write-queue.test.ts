import { VirtualClock } from '@ostler/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WriteOutcome } from './pty-endpoint.js';
import { WriteQueue, type WriteSink } from './write-queue.js';

const limits = { maxPendingWriteBytes: 64, writeStallMs: 1_000 };

/** Takes as many bytes as there is room for. */
class Pipe implements WriteSink {
  taken = '';
  room = 0;
  failed: string | undefined;

  take(data: Uint8Array): number | 'full' | { readonly failed: string } {
    if (this.failed !== undefined) return { failed: this.failed };
    const count = Math.min(this.room, data.length);
    if (count === 0) return 'full';
    this.room -= count;
    this.taken += Buffer.from(data.subarray(0, count)).toString();
    return count;
  }
}

function setUp(): { pipe: Pipe; clock: VirtualClock; queue: WriteQueue } {
  const pipe = new Pipe();
  const clock = new VirtualClock();
  return { pipe, clock, queue: new WriteQueue(pipe, clock, limits) };
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('WriteQueue', () => {
  test('parts of a write go out as there is room, whole and in order', async () => {
    const { pipe, clock, queue } = setUp();
    pipe.room = 2;
    const first = queue.write(bytes('abcd'));
    const second = queue.write(bytes('ef'));
    expect(pipe.taken).toBe('ab');
    pipe.room = 3;
    clock.advance(1);
    expect(await first).toEqual({ kind: 'carried_out' });
    expect(pipe.taken).toBe('abcde');
    pipe.room = 9;
    queue.wake();
    expect(await second).toEqual({ kind: 'carried_out' });
    expect(pipe.taken).toBe('abcdef');
    expect(clock.nextDueMs()).toBeNull();
  });

  test('a sink that takes nothing for the stall time ends what waits, truthfully', async () => {
    const { pipe, clock, queue } = setUp();
    pipe.room = 1;
    const begun = queue.write(bytes('ab'));
    const waiting = queue.write(bytes('cd'));
    clock.advance(999);
    expect(await Promise.race([begun, Promise.resolve('open')])).toBe('open');
    clock.advance(40);
    expect(await begun).toEqual({ kind: 'ambiguous', reason: 'write_stalled' });
    expect(await waiting).toEqual({ kind: 'nothing_written', reason: 'write_stalled' });
    expect(clock.nextDueMs()).toBeNull();
    pipe.room = 9;
    expect(await queue.write(bytes('ef'))).toEqual({ kind: 'carried_out' });
    expect(pipe.taken).toBe('aef');
  });

  test('slow progress is no stall', async () => {
    const { pipe, clock, queue } = setUp();
    const write = queue.write(bytes('abcd'));
    for (let step = 0; step < 4; step += 1) {
      clock.advance(900);
      pipe.room = 1;
      queue.wake();
    }
    expect(await write).toEqual({ kind: 'carried_out' });
  });

  test('the gate is asked before every part', async () => {
    const { pipe, clock, queue } = setUp();
    pipe.room = 1;
    let mayWrite = true;
    const begun = queue.write(bytes('ab'), () => mayWrite);
    const waiting = queue.write(bytes('cd'), () => mayWrite);
    const free = queue.write(bytes('ef'));
    mayWrite = false;
    pipe.room = 9;
    clock.advance(1);
    expect(await begun).toEqual({ kind: 'ambiguous', reason: 'stale_token' });
    expect(await waiting).toEqual({ kind: 'nothing_written', reason: 'stale_token' });
    expect(await free).toEqual({ kind: 'carried_out' });
    expect(pipe.taken).toBe('aef');
  });

  test('a write over the pending limit is refused whole and changes nothing', async () => {
    const { pipe, clock, queue } = setUp();
    const first = queue.write(new Uint8Array(60).fill(97));
    expect(await queue.write(bytes('12345'))).toEqual({
      kind: 'nothing_written',
      reason: 'pending_limit',
    });
    pipe.room = 10;
    clock.advance(1);
    const fits = queue.write(bytes('12345'));
    pipe.room = 99;
    clock.advance(40);
    expect(await first).toEqual({ kind: 'carried_out' });
    expect(await fits).toEqual({ kind: 'carried_out' });
  });

  test('an error and a close end everything by how far it had come', async () => {
    const { pipe, clock, queue } = setUp();
    pipe.room = 1;
    const begun = queue.write(bytes('ab'));
    const waiting = queue.write(bytes('cd'));
    pipe.failed = 'EIO';
    clock.advance(1);
    expect(await begun).toEqual({ kind: 'ambiguous', reason: 'EIO' });
    expect(await waiting).toEqual({ kind: 'nothing_written', reason: 'EIO' });
    queue.close('pty_closed');
    expect(await queue.write(bytes('x'))).toEqual({
      kind: 'nothing_written',
      reason: 'pty_closed',
    });
  });

  test('whatever the room, what arrived is what the outcomes say', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ minLength: 0, maxLength: 20, unit: 'grapheme-ascii' }), {
          maxLength: 8,
        }),
        fc.array(fc.nat(15), { maxLength: 30 }),
        async (texts, rooms) => {
          const { pipe, clock, queue } = setUp();
          const outcomes: Promise<WriteOutcome>[] = [];
          for (const [index, text] of texts.entries()) {
            pipe.room += rooms[index] ?? 0;
            outcomes.push(queue.write(bytes(text)));
          }
          for (const room of rooms) {
            pipe.room += room;
            clock.advance(32);
          }
          clock.advance(2_000);
          let certain = '';
          for (const [index, promise] of outcomes.entries()) {
            const outcome = await promise;
            if (outcome.kind === 'carried_out') certain += texts[index];
            if (outcome.kind !== 'ambiguous') continue;
            const part = pipe.taken.slice(certain.length);
            expect(texts[index]?.startsWith(part)).toBe(true);
            certain += part;
          }
          expect(pipe.taken).toBe(certain);
        },
      ),
    );
  });
});
