import { CodedError } from '@ostler/runtime';
import { z } from 'zod';
import type { Action, ScriptInput, SimulatedScript } from './script.js';

const text = z.string().max(64 * 1024);
const word = z.string().min(1).max(64);
const ms = z.number().int().min(0).max(600_000);
const nth = z.number().int().min(1).max(10_000).exactOptional();
const rows = z.array(text).max(200);

const kinds = z.enum([
  'permission',
  'question',
  'menu',
  'trust',
  'update',
  'sign_in',
  'onboarding',
  'model_picker',
  'rewind',
  'transcript',
  'search',
  'unknown',
]);

const dialog = z.union([
  kinds,
  z.strictObject({
    kind: kinds,
    title: text.exactOptional(),
    body: rows.exactOptional(),
    options: z.array(text).max(9).exactOptional(),
  }),
]);

const action = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('open'), dialog }),
  z.strictObject({ do: z.literal('close') }),
  z.strictObject({
    do: z.literal('stall'),
    what: z.enum(['reading', 'drawing', 'mid_frame']),
    forMs: ms.exactOptional(),
    until: word.exactOptional(),
  }),
  z.strictObject({ do: z.literal('resume') }),
  z.strictObject({ do: z.literal('exit'), code: z.number().int().min(0).max(255).exactOptional() }),
  z.strictObject({ do: z.literal('crash') }),
  z.strictObject({ do: z.literal('shell') }),
  z.strictObject({ do: z.literal('type'), text }),
  z.strictObject({ do: z.literal('clear') }),
  z.strictObject({ do: z.literal('ghost'), text: text.nullable() }),
  z.strictObject({ do: z.literal('bracketed_paste'), on: z.boolean() }),
  z.strictObject({ do: z.literal('output'), lines: rows }),
  z.strictObject({ do: z.literal('swallow_enters'), count: z.number().int().min(0).max(1000) }),
  z.strictObject({ do: z.literal('rotate_record') }),
  z.strictObject({ do: z.literal('boundary') }),
  z.strictObject({
    do: z.literal('end_turn'),
    outcome: z.enum(['completed', 'failed', 'cancelled']).exactOptional(),
  }),
  z.strictObject({ do: z.literal('release'), name: word }),
]);

const trigger = z.discriminatedUnion('on', [
  z.strictObject({ on: z.literal('start') }),
  z.strictObject({ on: z.literal('ready') }),
  z.strictObject({ on: z.literal('after'), ms }),
  z.strictObject({ on: z.literal('paste'), nth }),
  z.strictObject({ on: z.literal('enter'), nth }),
  z.strictObject({ on: z.literal('prompt'), nth, text: text.exactOptional() }),
  z.strictObject({ on: z.literal('turn_end'), nth }),
  z.strictObject({ on: z.literal('release'), name: word }),
]);

const collapse = z.strictObject({
  characters: z.number().int().min(1).nullable().default(1000),
  newlines: z.number().int().min(0).nullable().default(null),
  style: z.enum(['sized', 'numbered']).default('sized'),
});

const look = z.strictObject({
  glyph: z.string().length(1).default('›'),
  placeholder: z.string().min(2).max(200).default('Ask the simulated agent'),
  ghostStyle: z.enum(['dim', 'grey', 'late']).default('dim'),
  cursor: z.enum(['inverse', 'hardware']).default('inverse'),
  maxComposerRows: z.number().int().min(1).max(200).default(10),
  collapse: collapse.nullable().prefault({}),
  showQueue: z.boolean().default(true),
  alternateScreen: z.boolean().default(true),
  synchronizedOutput: z.boolean().default(true),
  title: z.boolean().default(false),
  programState: z.boolean().default(false),
  spinnerMs: z.number().int().min(20).max(10_000).default(120),
});

const timing = z.strictObject({
  startMs: ms.default(0),
  earlyInput: z.enum(['draft', 'buffer', 'ignored']).default('draft'),
  bracketedPasteMs: ms.nullable().default(0),
  keyMs: ms.default(0),
  echoMs: ms.default(0),
});

const record = z.strictObject({
  write: z.boolean().default(true),
  delayMs: ms.default(0),
  omit: z
    .array(
      z.enum([
        'session',
        'accepted',
        'consumed',
        'turn_started',
        'turn_ended',
        'withdrawn',
        'rotated',
      ]),
    )
    .default([]),
  outOfOrder: z.boolean().default(false),
  splitMs: ms.nullable().default(null),
  rotateAfter: z.number().int().min(1).nullable().default(null),
});

const turn = z.strictObject({
  text: text.exactOptional(),
  forMs: ms.exactOptional(),
  until: word.exactOptional(),
  output: rows.exactOptional(),
  answer: text.exactOptional(),
  outcome: z.enum(['completed', 'failed']).exactOptional(),
});

const popup = z.strictObject({
  token: z.string().min(1).max(8),
  enter: z.enum(['swallow', 'insert']).default('swallow'),
  insert: text.default(''),
  afterMs: ms.default(0),
});

const script: z.ZodType<SimulatedScript> = z.strictObject({
  version: z.string().min(1).max(64).default('1.0.0'),
  busyRule: z
    .enum(['steering', 'native_queue', 'native_input', 'merging', 'daemon_queue'])
    .default('steering'),
  look: look.prefault({}),
  timing: timing.prefault({}),
  turns: z.array(turn).max(200).default([]),
  boundaryMs: z.number().int().min(1).max(600_000).nullable().default(150),
  drain: z.enum(['one', 'all']).default('one'),
  popups: z
    .array(popup)
    .max(20)
    .prefault([{ token: '@' }]),
  swallowEnters: z.number().int().min(0).max(1000).default(0),
  draft: text.default(''),
  stash: text.nullable().default(null),
  record: record.prefault({}),
  plan: z
    .array(
      z.strictObject({
        when: trigger,
        afterMs: ms.exactOptional(),
        actions: z.array(action).min(1).max(50),
      }),
    )
    .max(500)
    .default([]),
});

/** A script with every default filled in. Throws CodedError SIMULATED_SCRIPT_INVALID. */
export function parseScript(input: ScriptInput | string): SimulatedScript {
  const result = script.safeParse(typeof input === 'string' ? fromJson(input) : input);
  if (result.success) return result.data;
  throw new CodedError(
    'SIMULATED_SCRIPT_INVALID',
    `The simulated agent's script doesn't fit: ${z.prettifyError(result.error)}`,
  );
}

/** One action from outside, or the reason it isn't one. */
export function parseAction(
  input: unknown,
):
  | { readonly ok: true; readonly action: Action }
  | { readonly ok: false; readonly reason: string } {
  const result = action.safeParse(input);
  if (result.success) return { ok: true, action: result.data };
  return { ok: false, reason: z.prettifyError(result.error) };
}

function fromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new CodedError('SIMULATED_SCRIPT_INVALID', "The simulated agent's script isn't JSON.", {
      cause,
    });
  }
}
