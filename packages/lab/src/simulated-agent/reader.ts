import { createHash } from 'node:crypto';
import {
  type AnswerPlan,
  type BodyVerdict,
  type CollapseMarker,
  type Composer,
  type DraftMatch,
  type EngineReader,
  type OpenQuestion,
  type PreparedBody,
  type Reading,
  type ReadingSignal,
  unreadable,
} from '@ostler/engines';
import { type ScreenRow, type ScreenSnapshot, sanitiseBody } from '@ostler/terminal';
import { clip, wrap } from './cells.js';
import { dialogTable } from './dialogs.js';
import { composerColumns } from './paint.js';
import { colours, words } from './words.js';

export type SimulatedBusyMode = EngineReader['busyMode'];

/** Reads the simulated agent's screen. Everything hangs on the bottom rows; the conversation is never asked. */
export class SimulatedReader implements EngineReader {
  readonly engine = 'simulated';
  readonly version: string | null;
  readonly busyMode: SimulatedBusyMode;

  constructor(version: string | null) {
    this.version = version;
    this.busyMode = busyModeOf(version);
  }

  read(snapshot: ScreenSnapshot, side: readonly ReadingSignal[] = []): Reading {
    if (snapshot.modes.synchronizedOutput) return { ...unreadable, signals: side };
    const rows = snapshot.rows;
    const last = rows.findLastIndex((row) => row.text !== '');
    const footer = rows[last]?.text ?? '';
    const width = snapshot.cols - 1;
    const ours = [words.footerIdle, words.footerBusy].some(
      (known) => clip(known, width) === footer,
    );
    return ours ? readComposer(rows, last, side) : readDialog(rows, last, width, side);
  }

  prepareBody(text: string): BodyVerdict {
    const clean = sanitiseBody(text);
    if (clean.kind === 'refused') {
      return refused(clean.reason, 'The text has half a character in it. Send whole ones.');
    }
    const body = clean.text;
    const meaning = body.trim();
    if (meaning === '') return refused('blank', 'The text is blank.');
    if (meaning === 'exit' || meaning === 'quit') {
      return refused('quits_engine', `"${meaning}" alone would quit the agent. Send a sentence.`);
    }
    // A blank in front of a command, or behind a popup's word or a backslash, is trimmed at the submit.
    const front = /^[!/]/.test(body) ? ' ' : '';
    const back = /(?:\\|(?:^|\s)@\S+)$/.test(body) ? ' ' : '';
    return { kind: 'ready', body: { frames: [front + body + back], text: meaning } };
  }

  matchDraft(reading: Reading, body: PreparedBody, snapshot: ScreenSnapshot): DraftMatch {
    const { composer } = reading;
    if (!composer) return 'other';
    if (isEmpty(composer)) return 'empty';
    const pasted = body.frames.join('');
    if (isMarkerFor(composer, pasted)) return 'exact';
    const ours = wrap(pasted, composerColumns(snapshot.cols)).map(bare);
    const { above, below } = composer.hiddenRows;
    const seen = composer.rows.map(bare);
    const window = ours.slice(above, above + seen.length);
    const whole = above + seen.length + below === ours.length;
    if (whole && seen.every((row, index) => row === window[index])) return 'exact';
    const head = seen.slice(0, -1);
    const tail = seen.at(-1) ?? '';
    const begins =
      below === 0 &&
      above + seen.length <= ours.length &&
      head.every((row, index) => row === window[index]) &&
      (window[head.length] ?? '').startsWith(tail);
    return begins ? 'partial' : 'other';
  }

  fingerprint(text: string): string {
    const normal = text.replace(/\r\n?/g, '\n').trim();
    return createHash('sha256').update(normal).digest('hex');
  }

  stopKeys(reading: Reading): string | null {
    return reading.busy && reading.composer && reading.hold === null ? '\u001b' : null;
  }

  /** Ctrl-U clears up to the cursor, which stands behind what was pasted; it does nothing to an empty draft. */
  eraseKeys(): string {
    return '\u0015';
  }

  planAnswer(question: OpenQuestion, answers: Readonly<Record<string, string>>): AnswerPlan {
    const [prompt] = question.prompts;
    if (!prompt || question.prompts.length !== 1) {
      return refused('question_unreadable', 'The question is not readable; nothing was typed.');
    }
    const given = Object.values(answers);
    const answer =
      answers[prompt.text] ?? answers['0'] ?? (given.length === 1 ? given[0] : undefined);
    const index = answer === undefined ? -1 : prompt.options.indexOf(answer);
    if (index < 0) {
      const offered = prompt.options.join(', ');
      return refused('answer_not_offered', `Answer with one of: ${offered}.`);
    }
    const gone = (reading: Reading): boolean =>
      reading.question === null || reading.question.fingerprint !== question.fingerprint;
    return { kind: 'ready', steps: [{ keys: String(index + 1), settled: gone }] };
  }
}

function busyModeOf(version: string | null): SimulatedBusyMode {
  switch (/\+([a-z-]+)$/.exec(version ?? '')?.[1]) {
    case 'steering':
      return 'steering';
    case 'native-queue':
      return 'native_queue';
    case 'merging':
    case 'daemon-queue':
      return 'daemon_queue';
    default:
      return 'native_input';
  }
}

function refused<Kind extends { kind: 'refused'; reason: string; message: string }>(
  reason: string,
  message: string,
): Kind {
  return { kind: 'refused', reason, message } as Kind;
}

function isRule(row: ScreenRow | undefined): boolean {
  return row?.text.startsWith(words.composerRule.repeat(3)) ?? false;
}

function readComposer(
  rows: readonly ScreenRow[],
  footer: number,
  signals: readonly ReadingSignal[],
): Reading {
  let lower = footer - 1;
  while (rows[lower]?.text.startsWith(words.popup)) lower -= 1;
  if (!isRule(rows[lower])) return { ...unreadable, signals };
  let upper = lower - 1;
  while (upper >= 0 && !isRule(rows[upper])) upper -= 1;
  const first = rows[upper + 1];
  if (upper < 0 || upper + 1 === lower || !first || first.text.startsWith(' ')) {
    return { ...unreadable, signals };
  }
  const body = rows.slice(upper + 1, lower);
  return {
    readable: true,
    composer: composerOf(body, hidden(rows[upper], '↑'), hidden(rows[lower], '↓')),
    hold: null,
    ...statusAbove(rows, upper),
    question: null,
    signals,
  };
}

function composerOf(body: readonly ScreenRow[], above: number, below: number): Composer {
  const first = body[0];
  const ghost = first && body.length === 1 && above + below === 0 ? ghostOf(first) : null;
  const texts = ghost === null ? body.map((row) => [...row.text].slice(2).join('')) : [];
  return {
    draft: texts.join('\n').trimEnd(),
    rows: texts,
    ghost,
    collapsed: body.flatMap(markersOf),
    hiddenRows: { above, below },
  };
}

/** A placeholder or suggestion: all of it dim or grey, but for the cursor's cell. */
function ghostOf(row: ScreenRow): string | null {
  const text = row.runs.filter((run) => run.column >= 2 && run.text.trim() !== '');
  const [head, ...rest] = text;
  if (!head) return null;
  const pale = (run: (typeof text)[number]): boolean =>
    run.style.dim || run.style.foreground === colours.ghost;
  if (!pale(head) && !(head.style.inverse && [...head.text].length === 1)) return null;
  if (rest.length === 0 ? !pale(head) : !rest.every(pale)) return null;
  return row.text.slice(2);
}

function markersOf(row: ScreenRow): CollapseMarker[] {
  return row.runs
    .filter((run) => run.style.foreground === colours.marker)
    .map(({ text: label }) => {
      const characters = /Content (\d+) chars/.exec(label)?.[1];
      const lines = /\+(\d+) lines/.exec(label)?.[1];
      return {
        label,
        characters: characters === undefined ? null : Number(characters),
        lines: lines === undefined ? null : Number(lines) + 1,
      };
    });
}

/** The one marker is the whole draft and its size is the text's. */
function isMarkerFor(composer: Composer, text: string): boolean {
  const [marker] = composer.collapsed;
  if (!marker || composer.collapsed.length !== 1 || composer.draft.trim() !== marker.label)
    return false;
  const lines = text.split('\n').length;
  return marker.characters === null
    ? (marker.lines ?? 1) === lines
    : marker.characters === [...text].length;
}

function isEmpty(composer: Composer): boolean {
  const { above, below } = composer.hiddenRows;
  return above + below === 0 && composer.rows.every((row) => row.trim() === '');
}

/** What stays comparable of a row: trailing blanks and characters without a cell go. */
function bare(row: string): string {
  return row.replace(/[\p{Mn}\p{Me}\p{Cf}]/gu, '').trimEnd();
}

function hidden(row: ScreenRow | undefined, arrow: string): number {
  return Number(new RegExp(` ${arrow} (\\d+) more `).exec(row?.text ?? '')?.[1] ?? 0);
}

/** The working line and the queue block above the row `at`, told by their colours. */
function statusAbove(rows: readonly ScreenRow[], at: number): { busy: boolean; queue: string[] } {
  const queue: string[] = [];
  let row = at - 1;
  while (rows[row]?.runs[0]?.style.foreground === colours.queue) {
    const text = rows[row]?.text ?? '';
    if (text.startsWith(words.queueItem)) queue.unshift(text.slice(words.queueItem.length));
    row -= 1;
  }
  return { busy: rows[row]?.runs[0]?.style.foreground === colours.working, queue };
}

function readDialog(
  rows: readonly ScreenRow[],
  footer: number,
  width: number,
  signals: readonly ReadingSignal[],
): Reading {
  const text = rows[footer]?.text ?? '';
  const known = Object.values(dialogTable).filter(
    (one) => one.hold !== null && ` ${clip(one.footer, width - 1)}` === text,
  );
  const row = known.length === 1 ? known[0] : undefined;
  let top = footer - 1;
  while (top >= 0 && !rows[top]?.text.startsWith(words.dialogRule.repeat(3))) top -= 1;
  if (!row || top < 0) return { ...unreadable, signals };
  return {
    readable: true,
    composer: null,
    hold: row.hold,
    ...statusAbove(rows, top),
    question: row.hold === 'question' ? questionOf(rows.slice(top + 1, footer)) : null,
    signals,
  };
}

function questionOf(rows: readonly ScreenRow[]): OpenQuestion {
  const text = rows[0]?.text.trim() ?? '';
  const options = rows.flatMap((row) => /^ [› ] \d\. (.+)$/.exec(row.text)?.[1] ?? []);
  const fingerprint = createHash('sha256')
    .update([text, ...options].join('\n'))
    .digest('hex');
  return { fingerprint, prompts: [{ header: null, text, options, multiSelect: false }] };
}
