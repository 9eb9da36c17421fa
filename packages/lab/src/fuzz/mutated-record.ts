import { isUtf8 } from 'node:buffer';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineEvent, RecordTail } from '@ostler/engines';
import { ClaudeRecord } from '@ostler/engines/claude';
import { CodexRecordReader } from '@ostler/engines/codex';
import { VirtualClock } from '@ostler/runtime';
import type { Chance } from '../simulation/random.js';
import type { FuzzTally, LineEdit, RecordEngine, RecordsCase, Verdict } from './fuzz-case.js';
import { keptRecords, sessionLines } from './sessions.js';

const limits = { maxLineBytes: 64 * 1024, readChunkBytes: 4 * 1024 };
/** Values of types that are expected nowhere a text is. */
const wrongValues = [
  '5',
  'null',
  '[]',
  '{}',
  '[null]',
  '[{"type":"text"}]',
  '-1e400',
  '{"text":{}}',
];
/** Keys whose loss says something else, in good form: no reader can see that. */
const meaning = ['error', 'thread_source', 'isApiErrorMessage'];

export function makeMutatedRecord(chance: Chance): RecordsCase {
  const engine: RecordEngine = chance.is(0.5) ? 'claude' : 'codex';
  const kept = keptRecords[engine];
  const session =
    kept.length > 0 && chance.is(0.2)
      ? (kept[chance.int(0, kept.length - 1)] ?? 0)
      : chance.int(0, 1e6);
  const lines = sessionLines(engine, session);
  const edits = Array.from({ length: chance.int(1, 5) }, () => makeEdit(chance, lines));
  return { kind: 'records', engine, session, edits };
}

function makeEdit(chance: Chance, lines: readonly string[]): LineEdit {
  const line = chance.int(0, lines.length - 1);
  const text = lines[line] ?? '';
  switch (chance.int(0, 9)) {
    case 0:
      return { do: 'drop', line };
    case 1:
      return { do: 'again', line };
    case 2:
      return { do: 'not_utf8', line };
    case 3:
      return { do: 'move', line, to: chance.int(0, lines.length - 1) };
    case 4:
      return { do: 'cut', line, characters: chance.int(0, text.length - 1) };
    case 5:
      return { do: 'huge', line, characters: chance.pick([1_000, 70_000, 200_000]) };
    case 6:
      return { do: 'deep', line, levels: chance.pick([50, 5_000]) };
    case 7:
      return { do: 'proto', line };
    default: {
      const paths = pathsOf(JSON.parse(text) as unknown).filter(
        (path) => !path.some((key) => meaning.includes(key)),
      );
      const path = paths[chance.int(0, paths.length - 1)] ?? ['type'];
      return {
        do: 'retype',
        line,
        path,
        json: wrongValues[chance.int(0, wrongValues.length - 1)] ?? '5',
      };
    }
  }
}

function pathsOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [...at, key],
    ...pathsOf(inner, [...at, key]),
  ]);
}

/** No changed record may tell of an input taken, or a turn completed, that the unchanged one does not. */
export async function checkMutatedRecord(
  { engine, session, edits }: RecordsCase,
  cuts: Chance,
  tally: FuzzTally,
): Promise<Verdict> {
  const lines = sessionLines(engine, session);
  const truth = lines.reduce(
    (read, line, offset) => {
      read.events.push(...read.take(JSON.parse(line) as unknown, offset));
      return read;
    },
    { events: [] as EngineEvent[], take: reader(engine) },
  ).events;
  const changed = changedLines(lines, edits);
  tally.records += changed.length;
  const told = await follow(engine, changed, cuts);
  return typeof told === 'string' ? told : unsupported(told, truth);
}

function reader(engine: RecordEngine): (value: unknown, offset: number) => readonly EngineEvent[] {
  if (engine === 'codex') {
    const record = new CodexRecordReader();
    return (value, offset) => record.read(value, offset);
  }
  const record = new ClaudeRecord();
  return (value) => record.take(value);
}

function changedLines(lines: readonly string[], edits: readonly LineEdit[]): readonly Buffer[] {
  const out: { readonly from: number; bytes: Buffer }[] = lines.map((line, from) => ({
    from,
    bytes: Buffer.from(line),
  }));
  for (const edit of edits) {
    const at = out.findIndex(({ from }) => from === edit.line);
    const entry = out[at];
    if (!entry) continue;
    const text = entry.bytes.toString('utf8');
    if (edit.do === 'drop') out.splice(at, 1);
    else if (edit.do === 'again') out.splice(at, 0, { from: -1, bytes: entry.bytes });
    else if (edit.do === 'move') out.splice(edit.to, 0, ...out.splice(at, 1));
    else if (edit.do === 'not_utf8') entry.bytes = notUtf8(entry.bytes);
    // Taking such a line for text would mend it.
    else if (!isUtf8(entry.bytes)) continue;
    else if (edit.do === 'cut') entry.bytes = Buffer.from(text.slice(0, edit.characters));
    else entry.bytes = Buffer.from(reshaped(text, edit));
  }
  return out.map(({ bytes }) => bytes);
}

/** The last letter of the line becomes a byte that no UTF-8 text has. */
function notUtf8(bytes: Buffer): Buffer {
  const out = Buffer.from(bytes);
  const at = out.findLastIndex((byte) => byte >= 0x61 && byte <= 0x7a);
  if (at >= 0) out[at] = 0xff;
  return out;
}

function reshaped(
  text: string,
  edit: Extract<LineEdit, { do: 'huge' | 'deep' | 'proto' | 'retype' }>,
): string {
  // Not twice: half a line, one that is no text any more or one too deep to be read is left as it is.
  if (!/^\{[^\ufffd]*\}$/.test(text) || text.includes('[[[[')) return text;
  const rest = text.slice(1);
  if (edit.do === 'huge') return `{"padding":"${'p'.repeat(edit.characters)}",${rest}`;
  if (edit.do === 'deep')
    return `{"padding":${'['.repeat(edit.levels)}${']'.repeat(edit.levels)},${rest}`;
  if (edit.do === 'proto')
    return `{"__proto__":{"type":"user","isMeta":false,"isSidechain":false,"origin":{"kind":"human"},"uuid":"p"},${rest}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  let holder = value as Record<string, unknown> | undefined;
  for (const key of edit.path.slice(0, -1)) holder = holder?.[key] as typeof holder;
  const last = edit.path.at(-1);
  if (typeof holder !== 'object' || holder === null || last === undefined) return text;
  holder[last] = JSON.parse(edit.json);
  return JSON.stringify(value);
}

/** What the engine's reader makes of a file that grows by pieces. A text is a fault of its own. */
async function follow(
  engine: RecordEngine,
  lines: readonly Buffer[],
  cuts: Chance,
): Promise<readonly EngineEvent[] | string> {
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
  const dir = mkdtempSync(join(tmpdir(), 'ostler-fuzz-'));
  const path = join(dir, 'record.jsonl');
  const take = reader(engine);
  const events: EngineEvent[] = [];
  let failure: string | null = null;
  try {
    appendFileSync(path, '');
    await using tail = new RecordTail({
      path,
      from: 'start',
      clock: new VirtualClock(),
      limits,
      onRecord: ({ value, offset }) => {
        try {
          events.push(...take(value, offset));
        } catch (thrown) {
          failure ??= `the reader threw ${String(thrown)}`;
        }
      },
    });
    for (let from = 0; from < bytes.length; ) {
      const to = cuts.is(0.5) ? bytes.length : from + cuts.int(1, bytes.length - from);
      appendFileSync(path, bytes.subarray(from, to));
      await tail.catchUp();
      from = to;
    }
    const { lines: read, malformed, tooLong } = tail.counts;
    const whole = lines.filter((line) => line.toString('utf8').trim() !== '').length;
    if (read + malformed + tooLong !== whole)
      failure ??= `${whole} lines, ${read + malformed + tooLong} counted`;
    return failure ?? events;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

type Ended = Extract<EngineEvent, { kind: 'turn_ended' }>;

function unsupported(told: readonly EngineEvent[], truth: readonly EngineEvent[]): Verdict {
  const texts = new Set(truth.flatMap((event) => ('text' in event ? [keyOf(event)] : [])));
  const ends = truth.filter((event): event is Ended => event.kind === 'turn_ended');
  const consumed = new Set<string>();
  for (const event of told) {
    // A prompt without a text is nobody's of ours, and taking back what is not named claims nothing.
    if ('text' in event && event.text !== '' && event.text !== null && !texts.has(keyOf(event)))
      return `${event.kind} of ${JSON.stringify(event.text)}, which nobody sent`;
    if (event.kind === 'input_consumed' && event.inputRef !== null) {
      if (consumed.has(event.inputRef)) return `${event.inputRef} is consumed twice`;
      consumed.add(event.inputRef);
    }
    if (event.kind !== 'turn_ended' || event.outcome !== 'completed') continue;
    for (const ref of event.inputRefs.filter((each) => !each.startsWith('line:'))) {
      const real = ends.find(({ inputRefs }) => inputRefs.includes(ref));
      if (real?.outcome !== 'completed')
        return `${ref} is completed, though it was ${real?.outcome ?? 'never ended'}`;
      if (!isWithin(event.finalText ?? '', real.finalText ?? ''))
        return `${ref} ended with ${JSON.stringify(event.finalText)}`;
    }
  }
  return null;
}

function keyOf(event: Extract<EngineEvent, { text: unknown }>): string {
  const ref =
    'inputRef' in event && event.inputRef?.startsWith('line:') !== true ? event.inputRef : null;
  return JSON.stringify([event.kind, event.text, ref]);
}

/** All characters of `part` are in `whole`, in their order. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    at = whole.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
