import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EngineEvent, type EngineObserver, RecordTail } from '@ostler/engines';
import { ClaudeRecord } from '@ostler/engines/claude';
import { CodexRecordReader } from '@ostler/engines/codex';
import { claudeSession, codexThread, type Random, simulatedEngine, type Trace } from '@ostler/lab';
import { systemClock } from '@ostler/runtime';
import type { Following } from './recorded-agent.js';

/** An input as the engine's record names it. */
export interface TracedInput {
  readonly ref: string;
  readonly text: string;
}

/** How a turn of a trace ended, and with which words where it was completed. */
export interface TracedTurn {
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly inputs: readonly TracedInput[];
  readonly answer: string | null;
}

export interface TracedRecord {
  readonly lines: readonly object[];
  readonly turns: readonly TracedTurn[];
}

type Line = Readonly<Record<string, unknown>>;

interface Format {
  readonly trace: (random: Random) => Trace;
  /** The line with other words: what was asked, or what was answered. */
  readonly reworded: (line: Line, words: (text: string, ref: string) => string) => Line;
  /** The words of an answer, by the reference that ends a turn. */
  readonly answered: (line: Line) => readonly [string, string] | null;
  readonly asked: (line: Line) => TracedInput | null;
  readonly reader: () => (value: unknown, offset: number) => readonly EngineEvent[];
}

const of = (value: unknown): Line => (value ?? {}) as Line;
const blocks = (value: unknown): readonly Line[] => (Array.isArray(value) ? value : []) as Line[];

const claude: Format = {
  trace: claudeSession,
  reworded: (line, words) => {
    const ref = String(line['uuid']);
    const message = of(line['message']);
    const attachment = of(line['attachment']);
    if (attachment['type'] === 'queued_command') {
      return { ...line, attachment: { ...attachment, prompt: words('', ref) } };
    }
    if (line['promptSource'] !== undefined) {
      return { ...line, message: { ...message, content: words('', ref) } };
    }
    if (claude.answered(line) === null) return line;
    const content = blocks(message['content']).map((block) => {
      return { ...block, text: words(String(block['text']), ref) };
    });
    return { ...line, message: { ...message, content } };
  },
  answered: (line) => {
    const [block] = blocks(of(line['message'])['content']);
    const isAnswer = line['type'] === 'assistant' && line['isSidechain'] === false;
    return isAnswer && block?.['type'] === 'text'
      ? [String(line['uuid']), String(block['text'])]
      : null;
  },
  asked: (line) => {
    const attachment = of(line['attachment']);
    const ref = String(line['uuid']);
    if (attachment['type'] === 'queued_command') return { ref, text: String(attachment['prompt']) };
    const isPrompt = line['promptSource'] !== undefined;
    return isPrompt ? { ref, text: String(of(line['message'])['content']) } : null;
  },
  reader: () => {
    const record = new ClaudeRecord();
    return (value) => record.take(value);
  },
};

const codex: Format = {
  trace: codexThread,
  reworded: (line, words) => {
    const payload = of(line['payload']);
    if (payload['last_agent_message'] !== undefined) {
      const last_agent_message = words(
        String(payload['last_agent_message']),
        String(payload['turn_id']),
      );
      return { ...line, payload: { ...payload, last_agent_message } };
    }
    const item = of(payload['item']);
    if (item['type'] !== 'UserMessage') return line;
    const content = [{ type: 'text', text: words('', String(item['id'])) }];
    return { ...line, payload: { ...payload, item: { ...item, content } } };
  },
  answered: (line) => {
    const payload = of(line['payload']);
    const words = payload['last_agent_message'];
    return words === undefined ? null : [String(payload['turn_id']), String(words)];
  },
  asked: (line) => {
    const item = of(of(line['payload'])['item']);
    if (item['type'] !== 'UserMessage') return null;
    return { ref: String(item['id']), text: String(blocks(item['content'])[0]?.['text']) };
  },
  reader: () => {
    const reader = new CodexRecordReader('thread');
    return (value, offset) => reader.read(value, offset);
  },
};

const formats = { claude, codex };
export type TracedEngine = keyof typeof formats;

const named = /"(uuid|parentUuid|logicalParentUuid|id|tool_use_id|turn_id)":"([^"]+)"/g;
const timed = /"timestamp":"([^"]+)"/g;
/** The generators' own time of their first entry. */
const traceStartMs = 1_800_000_000_000;

/** A trace whose names and answers are its own among all seeds, from now on. `same` is said by many. */
export function tracedRecord(engine: TracedEngine, seed: number, random: Random): TracedRecord {
  const format = formats[engine];
  const { lines, truths } = format.trace(random);
  const startMs = systemClock.nowMs() + 10;
  const own = (name: string): string => `${seed}.${name}`;
  const renamed = lines
    .map((line) =>
      JSON.stringify(line)
        .replace(named, (_, key: string, name: string) => `"${key}":"${own(name)}"`)
        .replace(timed, (_, time: string) => {
          const atMs = startMs + Date.parse(time) - traceStartMs;
          return `"timestamp":"${new Date(atMs).toISOString()}"`;
        }),
    )
    .map((line) =>
      format.reworded(JSON.parse(line) as Line, (text, ref) =>
        text === '' ? (random.chance(0.1) ? 'same' : `ask ${ref}`) : `${text} [${ref}] `,
      ),
    );
  const inputs = new Map(
    renamed.flatMap((line) => format.asked(line) ?? []).map((each) => [each.ref, each]),
  );
  const answers = new Map(renamed.flatMap((line) => [format.answered(line) ?? []].filter(isPair)));
  const turns = truths.map(({ ends, inputRefs, outcome }) => ({
    outcome,
    inputs: inputRefs.flatMap((ref) => inputs.get(own(ref)) ?? []),
    answer:
      outcome === 'completed' ? ends.map((end) => answers.get(own(end)) ?? '').join('') : null,
  }));
  return { lines: renamed, turns };
}

const isPair = (pair: readonly string[]): pair is readonly [string, string] => pair.length === 2;

/** Follows the file the record's lines stand in, with the engine's own reader. */
export function following(engine: TracedEngine): Following {
  return (sessionDir, onEnd) => ({
    ...simulatedEngine,
    planLaunch: (request) => simulatedEngine.planLaunch(request),
    observe: ({ clock, logger, onEvent }): EngineObserver => {
      const read = formats[engine].reader();
      const tail = new RecordTail({
        path: fileIn(sessionDir),
        from: 'start',
        clock,
        logger,
        onRecord: ({ value, offset }) => {
          for (const event of read(value, offset)) onEvent(event);
        },
      });
      void tail.catchUp().then(onEnd);
      return { signals: () => [], [Symbol.asyncDispose]: () => tail[Symbol.asyncDispose]() };
    },
  });
}

/** Writes lines; the last one is broken off in its middle where `cut` says so. */
export function writeLines(sessionDir: string, lines: readonly object[], cut: boolean): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const broken = cut ? JSON.stringify(lines.at(-1) ?? {}).slice(0, 25) : '';
  appendFileSync(fileIn(sessionDir), text + broken);
}

const fileIn = (sessionDir: string): string => join(sessionDir, 'traced.jsonl');
