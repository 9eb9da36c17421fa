import { createFrameSplitter, type SplitFrame } from '@ostler/protocol';
import type { Chance } from '../simulation/random.js';
import { type FramingCase, type FuzzTally, toBytes, type Verdict } from './fuzz-case.js';

const lineFeed = 0x0a;

export function makeFraming(chance: Chance): FramingCase {
  const maxFrameBytes = chance.pick([16, 64, 1_000, 65_536]);
  const pieces = Array.from({ length: chance.int(1, 40) }, () => makePiece(chance, maxFrameBytes));
  const cuts = Array.from({ length: chance.int(0, 30) }, () => chance.int(0, 4_000));
  return { kind: 'framing', maxFrameBytes, pieces, cuts };
}

function makePiece(chance: Chance, max: number): string {
  const end = chance.is(0.85) ? chance.pick(['\n', '\n', '\r\n', '\n\n']) : '';
  const length = chance.is(0.05) ? max + chance.int(-1, 2) : chance.int(0, Math.min(max, 80));
  const text = chance.is(0.3)
    ? Array.from({ length }, () => String.fromCharCode(chance.int(0, 255))).join('')
    : `{"a":"${'ü☕x'.repeat(length)}`.slice(0, length);
  const bytes = chance.is(0.3) ? text : Buffer.from(text, 'utf8').toString('latin1');
  return bytes.slice(0, length) + end;
}

/** Any cutting gives the same frames; what is too large is told once, and ends it. */
export function checkFraming(
  { maxFrameBytes, pieces, cuts }: FramingCase,
  tally: FuzzTally,
): Verdict {
  const bytes = Buffer.concat(pieces.map(toBytes));
  const wanted = plainly(bytes, maxFrameBytes);
  tally.frames += wanted.length;
  for (const places of [[], cuts, Array.from(bytes, (_, at) => at)]) {
    const splitter = createFrameSplitter({ maxFrameBytes });
    const borders = [0, ...places.filter((at) => at < bytes.length), bytes.length];
    borders.sort((a, b) => a - b);
    const got = borders
      .slice(1)
      .flatMap((to, index) => splitter.push(bytes.subarray(borders[index], to)));
    if (JSON.stringify(got) !== JSON.stringify(wanted))
      return `${places.length} cuts: ${got.length} frames, not ${wanted.length}`;
    const after = splitter.push(Buffer.from('{}\n'));
    if (wanted.at(-1)?.kind === 'too_large' && after.length > 0) return 'a frame behind too_large';
  }
  return null;
}

/** The same in the plainest way. */
function plainly(bytes: Buffer, maxFrameBytes: number): SplitFrame[] {
  const frames: SplitFrame[] = [];
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf(lineFeed, from);
    const end = at < 0 ? bytes.length : at;
    if (end - from > maxFrameBytes) return [...frames, { kind: 'too_large' }];
    if (at < 0) return frames;
    let line = bytes.subarray(from, end);
    if (line.at(-1) === 0x0d) line = line.subarray(0, -1);
    const text = line.toString('utf8');
    if (line.length > 0)
      frames.push(Buffer.from(text).equals(line) ? { kind: 'frame', text } : { kind: 'not_utf8' });
    from = end + 1;
  }
  return frames;
}
