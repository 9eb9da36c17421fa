import type { ScreenSnapshot } from '@ostler/terminal';
import type { Chance } from '../simulation/random.js';
import { type FeedStep, feedOnce, feedTwice } from './feed.js';
import {
  type ByteEdit,
  type FuzzTally,
  type RecordingCase,
  type Strike,
  toBytes,
  type Verdict,
} from './fuzz-case.js';
import { type Recorded, recorded, recordingNames } from './recorded.js';
import { boundsOf, footOf, isTypable, missingOfComposer, readingsOf } from './screen-oracle.js';

const names = recordingNames();
const strikes: readonly [Strike, ...Strike[]] = [
  'glyph',
  'cursor',
  'upper_rule',
  'lower_rule',
  'brackets',
];
/** Most changes are near the end: what was painted long before is painted over. */
const tailBytes = 3_000;
const escape = 0x1b;

export function makeMutatedRecording(chance: Chance): RecordingCase {
  const recording = chance.pick(names);
  const { bytes } = recorded(recording);
  const untilBytes = chance.is(0.3) ? bytes.length : chance.int(1, Math.max(1, bytes.length));
  if (chance.is(0.2))
    return { kind: 'recording', recording, untilBytes, strike: chance.pick(strikes), edits: [] };
  const edits = Array.from({ length: chance.int(1, 6) }, () => makeEdit(chance, bytes, untilBytes));
  return { kind: 'recording', recording, untilBytes, strike: null, edits };
}

function makeEdit(chance: Chance, bytes: Uint8Array, until: number): ByteEdit {
  const lowest = chance.is(0.6) ? Math.max(0, until - tailBytes) : 0;
  const anywhere = chance.int(lowest, Math.max(lowest, until - 1));
  // Half of the changes are made in the middle of an escape sequence.
  const before = chance.is(0.5) ? bytes.lastIndexOf(escape, anywhere) : -1;
  const at = before < 0 ? anywhere : before + chance.int(0, 5);
  switch (chance.int(0, 4)) {
    case 0:
      return { do: 'drop', at, count: chance.is(0.5) ? 1 : chance.int(1, 400) };
    case 1:
      return { do: 'again', at, count: chance.int(1, 600) };
    case 2:
      return { do: 'put', at, bytes: fewBytes(chance) };
    default:
      return { do: 'set', at, bytes: fewBytes(chance) };
  }
}

function fewBytes(chance: Chance): string {
  if (chance.is(0.2))
    return chance.pick([
      '\u001b',
      '\u001b[',
      '\u001b]',
      '\u009b',
      '\u0018',
      '\n',
      '\r',
      '\u001b[?25h',
      '\u001b[?25l',
      '\u001b[2m',
      '\u001b[0m',
    ]);
  return Array.from({ length: chance.int(1, 4) }, () =>
    String.fromCharCode(chance.int(0, 255)),
  ).join('');
}

/**
 * No reading of a changed recording may let anybody type where that engine's composer is not
 * painted, or where the dialog that stood there still stands at the bottom of the screen; and
 * none once a mark of the composer is destroyed.
 */
export async function checkMutatedRecording(
  test: RecordingCase,
  cuts: Chance,
  tally: FuzzTally,
): Promise<Verdict> {
  const source = recorded(test.recording);
  const { reader } = source;
  const before = await feedOnce(source, stepsOf(source, test.untilBytes, []));
  const readBefore = reader.read(before);
  if (test.strike !== null) {
    tally.bytes += test.untilBytes;
    if (!isTypable(readBefore)) return null;
    const blow = strikeBytes(test.strike, reader.engine, before);
    if (blow === null) return null;
    const steps = [...stepsOf(source, test.untilBytes, []), toBytes(blow)];
    const after = await feedOnce(source, steps);
    return isTypable(reader.read(after)) ? `typable without its ${test.strike}` : null;
  }
  const steps = stepsOf(source, test.untilBytes, test.edits);
  for (const step of steps) if (step instanceof Uint8Array) tally.bytes += step.length;
  const { whole, chunking } = await feedTwice(source, steps, cuts);
  const fault = chunking ?? boundsOf(whole) ?? readingsOf(whole, false);
  if (fault !== null) return fault;
  const read = reader.read(whole);
  if (!isTypable(read)) return null;
  const missing = missingOfComposer(reader.engine, whole);
  if (missing !== null) return `typable, but ${missing}`;
  if (
    readBefore.hold !== null &&
    isDialog(before, readBefore.hold) &&
    footOf(whole) === footOf(before)
  )
    return `typable in the dialog ${readBefore.hold}`;
  return null;
}

/** Holds that are told by a mode or a title, not by what stands on the screen. */
const besideTheScreen = ['starting', 'action_required', 'shell', 'agents_view'];

function isDialog(snapshot: ScreenSnapshot, hold: string): boolean {
  return footOf(snapshot) !== '' && !besideTheScreen.includes(hold);
}

/** The output up to `until`, changed, with the changes of size in their places. */
function stepsOf(source: Recorded, until: number, edits: readonly ByteEdit[]): FeedStep[] {
  const steps: FeedStep[] = [];
  let from = 0;
  for (const { at, size } of source.resizes) {
    if (at > until) break;
    steps.push(edited(source.bytes, from, at, edits), size);
    from = at;
  }
  steps.push(edited(source.bytes, from, until, edits));
  return steps;
}

function edited(
  bytes: Uint8Array,
  from: number,
  to: number,
  edits: readonly ByteEdit[],
): Uint8Array {
  let at = from;
  const parts: Uint8Array[] = [];
  const here = edits.filter((edit) => edit.at >= from && edit.at < to);
  for (const edit of here.toSorted((a, b) => a.at - b.at)) {
    if (edit.at < at) continue;
    parts.push(bytes.subarray(at, edit.at));
    at = edit.at;
    if (edit.do === 'drop') at += edit.count;
    else if (edit.do === 'again') parts.push(bytes.subarray(at, Math.min(to, at + edit.count)));
    else {
      const put = toBytes(edit.bytes);
      parts.push(put);
      if (edit.do === 'set') at += put.length;
    }
  }
  if (at < to) parts.push(bytes.subarray(at, to));
  return Buffer.concat(parts);
}

/** Bytes that destroy one mark of the composer and change nothing else. */
function strikeBytes(strike: Strike, engine: string, snapshot: ScreenSnapshot): string | null {
  const claude = engine === 'claude';
  const { rows, cols, cursor } = snapshot;
  const put = (row: number, column: number, text: string): string =>
    `\u001b[${row + 1};${column + 1}H\u001b[0m${text}\u001b[${cursor.row + 1};${cursor.column + 1}H`;
  if (strike === 'brackets') return '\u001b[?2004l';
  if (strike === 'cursor' && !claude) return '\u001b[?25l';
  if (!claude) {
    if (strike !== 'glyph') return null;
    const row = rows.slice(0, cursor.row + 1).findLastIndex(({ text }) => text.startsWith('›'));
    return put(row, 0, 'X');
  }
  const isRule = (text: string): boolean => /^──.*─$/.test(text) && text.length * 2 > cols;
  const lower = rows.findLastIndex(({ text }) => isRule(text));
  const upper = rows.slice(0, lower).findLastIndex(({ text }) => isRule(text));
  if (strike === 'upper_rule') return put(upper, 0, 'X');
  if (strike === 'lower_rule') return put(lower, 0, 'X');
  if (strike === 'glyph') {
    const at = rows[upper + 1]?.text.startsWith('❯') ? upper + 1 : null;
    return at === null ? null : put(at, 0, 'X');
  }
  const painted: string[] = [];
  for (let row = upper + 1; row < lower; row += 1)
    for (const run of rows[row]?.runs ?? [])
      if (run.style.inverse) painted.push(put(row, run.column, run.text));
  return painted.join('');
}
