import type { EngineReader, PreparedBody, Reading } from '@ostler/engines';
import { claudeEngine } from '@ostler/engines/claude';
import { codexEngine } from '@ostler/engines/codex';
import { genericEngines } from '@ostler/engines/generic';
import type { ScreenRow, ScreenSnapshot } from '@ostler/terminal';
import type { Verdict } from './fuzz-case.js';

/** Of the terminal: code points one cell may take, and characters of a title that are kept. */
const maxCodePointsPerCell = 128;
const maxSignalCharacters = 512;
/** What a dialog is told by: the last rows of it. */
const dialogRows = 8;

export const everyReader: readonly EngineReader[] = [
  claudeEngine.reader('2.1.280'),
  claudeEngine.reader('2.1.328'),
  claudeEngine.reader(null),
  codexEngine.reader('0.156.1'),
  codexEngine.reader('0.169.0'),
  codexEngine.reader(null),
  ...genericEngines.map((engine) => engine.reader(null)),
];

/** Nobody ever wrote this into a terminal. */
const alien: PreparedBody = { frames: ['qzxjv kwqy zzqj'], text: 'qzxjv kwqy zzqj' };

/** True where the controller would type: a composer, and nothing in the way. */
export function isTypable(reading: Reading): boolean {
  return reading.readable && reading.composer !== null && reading.hold === null;
}

/** What is on the screen, times and revisions left out. */
export function visible(snapshot: ScreenSnapshot): string {
  const { rows, cursor, modes, cols, signals } = snapshot;
  const said = [signals.title?.text, signals.programState?.state, signals.programState?.kind];
  return JSON.stringify({ rows, cursor, modes, cols, said });
}

/** Nothing of a snapshot is larger than the screen it is of. */
export function boundsOf(snapshot: ScreenSnapshot): Verdict {
  const { rows, cols, cursor, signals } = snapshot;
  for (const [y, row] of rows.entries()) {
    const points = Array.from(row.text).length;
    if (points > cols * maxCodePointsPerCell) return `row ${y} has ${points} code points`;
    if (row.runs.length > cols) return `row ${y} has ${row.runs.length} runs`;
    const fromRuns = row.runs.map(({ text }) => text).join('');
    if (fromRuns.trimEnd() !== row.text.trimEnd()) return `row ${y}: its runs are not its text`;
  }
  if (cursor.row < 0 || cursor.row >= rows.length) return `the cursor is in row ${cursor.row}`;
  if (cursor.column < 0 || cursor.column > cols) return `the cursor is in column ${cursor.column}`;
  for (const text of [signals.title?.text, signals.programState?.state])
    if (text !== undefined && text.length > maxSignalCharacters)
      return `a signal has ${text.length} characters`;
  return null;
}

/**
 * What every reader may say of a screen nobody has vouched for: no reading larger than the
 * screen, and none that lets anybody type where that engine's composer is not painted.
 */
export function readingsOf(snapshot: ScreenSnapshot, blind: boolean): Verdict {
  const size = snapshot.rows.reduce((sum, row) => sum + row.text.length + 1, 0);
  for (const reader of everyReader) {
    const name = `${reader.engine} ${reader.version ?? '(any)'}`;
    const reading = reader.read(snapshot);
    const said = sizeOf(reading);
    if (said > 4 * size + 16 * maxSignalCharacters)
      return `${name}: a reading of ${said} characters`;
    if (isTypable(reading)) {
      if (blind) return `${name}: typable on random bytes`;
      const missing = missingOfComposer(reader.engine, snapshot);
      if (missing !== null) return `${name}: typable, but ${missing}`;
    }
    if (reading.composer) {
      const match = reader.matchDraft(reading, alien, snapshot);
      if (match === 'exact') return `${name}: takes ${reading.composer.draft} for a text it is not`;
    }
  }
  return null;
}

function sizeOf({ composer, queue, question, signals }: Reading): number {
  const texts = [
    composer?.draft ?? '',
    composer?.ghost ?? '',
    ...(composer?.rows ?? []),
    ...queue,
    ...signals.map(({ value }) => value),
    ...(question?.prompts ?? []).flatMap(({ text, options }) => [text, ...options]),
  ];
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/**
 * What has to be on a screen for an engine's composer to stand there, said a second time and
 * without the engine's own code. Null where all of it is.
 */
export function missingOfComposer(engine: string, snapshot: ScreenSnapshot): string | null {
  const { modes } = snapshot;
  if (modes.synchronizedOutput) return 'a frame is half painted';
  if (!modes.bracketedPaste) return 'no paste brackets are wanted';
  if (engine === 'claude') return missingOfClaude(snapshot);
  if (engine === 'codex') return missingOfCodex(snapshot);
  return 'its composer is not known';
}

function missingOfClaude({ rows, cols, modes }: ScreenSnapshot): string | null {
  if (modes.cursorVisible) return 'the cursor is shown';
  const isRule = ({ text }: ScreenRow): boolean => /^──.*─$/.test(text) && text.length * 2 > cols;
  const lower = rows.findLastIndex(isRule);
  const upper = rows.slice(0, Math.max(0, lower)).findLastIndex(isRule);
  if (upper < 0) return 'there are no two rules';
  const inside = rows.slice(upper + 1, lower);
  const first = inside[0]?.text ?? '';
  if (!first.startsWith('❯') && !/↑ \d+ more/.test(rows[upper]?.text ?? '')) return 'there is no ❯';
  const cursor = inside.some((row) => row.runs.some((run) => run.style.inverse));
  return cursor ? null : 'there is no painted cursor';
}

function missingOfCodex({ rows, cursor, modes }: ScreenSnapshot): string | null {
  if (!modes.cursorVisible) return 'the cursor is hidden';
  for (let y = cursor.row; y >= 0; y -= 1) {
    const row = rows[y];
    if (row?.text.startsWith('›'))
      return row.runs[0]?.style.dim ? 'its › is that of a prompt sent' : null;
    if (row && row.text.trim() !== '' && !row.text.startsWith('  ')) break;
  }
  return 'the cursor is behind no ›';
}

/** The last rows with text: what a dialog at the bottom of the screen is told by. */
export function footOf(snapshot: ScreenSnapshot): string {
  const texts = snapshot.rows.map((row) => row.text).filter((text) => text.trim() !== '');
  return texts.slice(-dialogRows).join('\n');
}
