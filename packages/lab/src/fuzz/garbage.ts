import type { Chance } from '../simulation/random.js';
import { feedTwice } from './feed.js';
import { type FuzzTally, type GarbageCase, toBytes, type Verdict } from './fuzz-case.js';
import { boundsOf, readingsOf } from './screen-oracle.js';

const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** What screens of engines are made of, whole and torn. */
const vocabulary = [
  '❯ ',
  '› ',
  '! ',
  '› 1. Yes, proceed',
  '❯ 1. Yes',
  '─'.repeat(60),
  '──',
  '▔'.repeat(20),
  'Do you want to proceed?',
  'Esc to cancel',
  'Enter to select · ',
  '  esc to interrupt',
  '• Working (3s • esc to interrupt)',
  '  ? for shortcuts',
  '[Pasted text #1 +9 lines]',
  '[Pasted Content 1200 chars]',
  'Press up to edit queued messages',
  'plain words',
  '中文字',
  '👩‍👩‍👧',
  'e\u0301',
  'ب\u0651',
  '\u200d',
].map(utf8) as [string, ...string[]];

const sequences = [
  '\u001b[?2004h',
  '\u001b[?2004l',
  '\u001b[?25l',
  '\u001b[?25h',
  '\u001b[?2026h',
  '\u001b[?2026l',
  '\u001b[?1049h',
  '\u001b[?1049l',
  '\u001b[7m',
  '\u001b[2m',
  '\u001b[0m',
  '\u001b[38;2;100;100;100m',
  '\u001b[H',
  '\u001b[2J',
  '\u001b[K',
  '\u001b[1J',
  '\u001b]0;Claude Code\u0007',
  '\u001b]0;⠋ working\u0007',
  '\u001b]7501;state=idle:app=codex\u001b\\',
  '\u001b]7501;state=working:app=codex\u001b\\',
  '\u001b]8;;http://x\u001b\\',
  '\u001b]8;;\u001b\\',
  '\u001b7',
  '\u001b8',
  '\u001bc',
  '\u001b[!p',
  '\u001bM',
  '\u001bD',
  '\u001b(0',
  '\u001b(B',
  '\u001b[3g',
  '\u001b[?6h',
  '\u001b[?7l',
  '\u001b[4h',
  '\u001b[c',
  '\u001b[6n',
  '\r\n',
  '\r',
  '\n',
  '\t',
  '\b',
].map(utf8) as [string, ...string[]];

const finals = 'ABCDEFGHIJKLMPSTXZ`abcdefghlmnpqrstu@';
const sizes: readonly [readonly [number, number], ...(readonly [number, number])[]] = [
  [100, 32],
  [80, 24],
  [120, 50],
  [40, 10],
  [2, 2],
  [7, 3],
  [250, 60],
];

export function makeGarbage(chance: Chance): GarbageCase {
  const [cols, rows] = chance.pick(sizes);
  const blind = chance.is(0.3);
  const count = chance.int(1, blind ? 12 : 400);
  const pieces = Array.from({ length: count }, () =>
    blind ? blindBytes(chance) : anyPiece(chance),
  );
  return { kind: 'garbage', cols, rows, blind, pieces };
}

function anyPiece(chance: Chance): GarbageCase['pieces'][number] {
  const kind = chance.int(0, 99);
  if (kind < 30) return chance.pick(vocabulary);
  if (kind < 60) return chance.pick(sequences);
  if (kind < 75) return controlSequence(chance);
  if (kind < 80) return torn(chance, chance.pick(sequences));
  if (kind < 85) return torn(chance, chance.pick(vocabulary));
  if (kind < 88) return openString(chance);
  if (kind < 90) return [chance.int(2, 160), chance.int(2, 60)];
  return blindBytes(chance).slice(0, chance.int(1, 60));
}

/** Every byte by chance, with more of those that begin something. */
function blindBytes(chance: Chance): string {
  const length = chance.int(1, 700);
  const spicy = chance.is(0.5);
  let text = '';
  for (let index = 0; index < length; index += 1) {
    const code =
      spicy && chance.is(0.15) ? chance.pick([27, 155, 144, 157, 226, 240]) : chance.int(0, 255);
    text += String.fromCharCode(code);
  }
  return text;
}

function controlSequence(chance: Chance): string {
  const parameters = Array.from({ length: chance.int(0, chance.is(0.02) ? 400 : 4) }, () => {
    const size = chance.int(0, 9);
    if (size < 6) return String(chance.int(0, 60));
    if (size < 8) return '';
    return size === 8 ? String(chance.int(100, 99_999)) : '99999999999';
  });
  const prefix = chance.pick(['', '', '', '?', '>', '!', '=']);
  return `\u001b[${prefix}${parameters.join(chance.is(0.1) ? ':' : ';')}${finals[chance.int(0, finals.length - 1)] ?? 'm'}`;
}

function torn(chance: Chance, text: string): string {
  const from = chance.int(0, text.length - 1);
  return text.slice(from, from + chance.int(1, text.length));
}

/** A title, a device string or a message that ends late, or not at all. */
function openString(chance: Chance): string {
  const opener = chance.pick([
    '\u001b]0;',
    '\u001b]7501;state=',
    '\u001bP',
    '\u001b_',
    '\u001b^',
    '\u001b]52;c;',
  ]);
  const length = chance.is(0.03) ? 60_000 : chance.int(0, 900);
  return `${opener}${'x'.repeat(length)}${chance.is(0.7) ? '\u001b\\' : ''}`;
}

export async function checkGarbage(
  { cols, rows, blind, pieces }: GarbageCase,
  cuts: Chance,
  tally: FuzzTally,
): Promise<Verdict> {
  const steps = pieces.map((piece) => (typeof piece === 'string' ? toBytes(piece) : piece));
  for (const step of steps) if (step instanceof Uint8Array) tally.bytes += step.length;
  const { whole, chunking } = await feedTwice({ cols, rows }, joined(steps), cuts);
  return chunking ?? boundsOf(whole) ?? readingsOf(whole, blind);
}

/** What stands between two sizes, in one piece. */
function joined(steps: readonly (Uint8Array | readonly [number, number])[]): typeof steps {
  const out: (Uint8Array | readonly [number, number])[] = [];
  for (const step of steps) {
    const last = out.at(-1);
    if (step instanceof Uint8Array && last instanceof Uint8Array)
      out[out.length - 1] = Buffer.concat([last, step]);
    else out.push(step);
  }
  return out;
}
