import { CodedError } from '@ostler/runtime';
import { z } from 'zod';

const maxSteps = 200;
const maxRules = 500;
const maxTextChars = 1_000_000;
const maxWaitMs = 600_000;

const text = z.string().max(maxTextChars);
const waitMs = z.number().int().min(0).max(maxWaitMs);

export interface ModelQuestion {
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multiSelect: boolean;
}

/** One thing the model does. */
export type ModelStep =
  /** Streams text: `chunkChars` at a time with `chunkDelayMs` after each, or all at once. */
  | {
      readonly do: 'say';
      readonly text: string;
      readonly chunkChars?: number | undefined;
      readonly chunkDelayMs: number;
    }
  /** Silent for a while. */
  | { readonly do: 'think'; readonly ms: number }
  /** Silent until the test calls `release(name)`. */
  | { readonly do: 'hold'; readonly name: string }
  /** The engine's shell tool. `ask` requests the permission a person has to give. */
  | {
      readonly do: 'shell';
      readonly command: string;
      readonly ask: boolean;
      readonly yieldMs: number;
    }
  /** Writes a whole new file with the engine's edit tool. */
  | { readonly do: 'write'; readonly path: string; readonly content: string }
  /** Asks the person with the engine's question tool. */
  | { readonly do: 'ask'; readonly questions: readonly ModelQuestion[] }
  /** Any tool, by its name on the wire, and the group it stands in where the wire has groups. */
  | {
      readonly do: 'tool';
      readonly name: string;
      readonly namespace?: string | undefined;
      readonly input: Readonly<Record<string, unknown>>;
    }
  /** An HTTP status before anything was said, an error event after. */
  | { readonly do: 'fail'; readonly status: number; readonly message: string }
  /** Cuts the connection without an end. */
  | { readonly do: 'cut' };

export interface ModelRule {
  /** Matched against each new input of a person, in order; exactly one of the three. */
  readonly when: {
    readonly equals?: string | undefined;
    readonly includes?: string | undefined;
    readonly startsWith?: string | undefined;
  };
  readonly steps: readonly ModelStep[];
  /** How often the rule may fire; without it, always. */
  readonly times?: number | undefined;
}

export interface CheckedScript {
  readonly rules: readonly ModelRule[];
  /** What is done for an input that no rule matches. */
  readonly otherwise: readonly ModelStep[];
}

type Loose<Value> = Value extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: Loose<Value[Key]> }
    : Value;

/** A step as it is written: what has a default may be left out; `checkScript` is the judge. */
export type ModelStepInput = Loose<ModelStep> & Pick<ModelStep, 'do'>;

/** What the model does: plain data, valid as JSON. */
export interface ModelScript {
  readonly rules?: readonly {
    readonly when: ModelRule['when'];
    readonly steps: readonly ModelStepInput[];
    readonly times?: number;
  }[];
  readonly otherwise?: readonly ModelStepInput[];
}

const option = z.strictObject({ label: text, description: text.default('') });

const question = z.strictObject({
  header: text.default('Choice'),
  question: text,
  options: z.array(option).min(2).max(4),
  multiSelect: z.boolean().default(false),
});

const say = z.strictObject({
  do: z.literal('say'),
  text,
  chunkChars: z.number().int().min(1).optional(),
  chunkDelayMs: waitMs.default(0),
});
const think = z.strictObject({ do: z.literal('think'), ms: waitMs });
const hold = z.strictObject({ do: z.literal('hold'), name: z.string().min(1).max(200) });
const shell = z.strictObject({
  do: z.literal('shell'),
  command: text,
  ask: z.boolean().default(false),
  yieldMs: waitMs.default(30_000),
});
const write = z.strictObject({ do: z.literal('write'), path: text, content: text });
const ask = z.strictObject({ do: z.literal('ask'), questions: z.array(question).min(1).max(4) });
const tool = z.strictObject({
  do: z.literal('tool'),
  name: z.string().min(1).max(200),
  namespace: z.string().min(1).max(200).optional(),
  input: z.record(z.string(), z.unknown()),
});
const fail = z.strictObject({
  do: z.literal('fail'),
  status: z.number().int().min(400).max(599),
  message: text.default('the script says so'),
});
const cut = z.strictObject({ do: z.literal('cut') });

const step = z.discriminatedUnion('do', [say, think, hold, shell, write, ask, tool, fail, cut]);

const matcher = z
  .strictObject({
    equals: text.optional(),
    includes: text.optional(),
    startsWith: text.optional(),
  })
  .refine((value) => Object.values(value).filter((entry) => entry !== undefined).length === 1, {
    message: 'give exactly one of equals, includes, startsWith',
  });

const rule = z.strictObject({
  when: matcher,
  steps: z.array(step).min(1).max(maxSteps),
  times: z.number().int().min(1).optional(),
});

const script: z.ZodType<CheckedScript> = z.strictObject({
  rules: z.array(rule).max(maxRules).default([]),
  otherwise: z
    .array(step)
    .min(1)
    .max(maxSteps)
    .default([{ do: 'say', text: 'Done.', chunkDelayMs: 0 }]),
});

/** Throws CodedError MODEL_SCRIPT_INVALID, naming the place and the rule it breaks. */
export function checkScript(value: unknown): CheckedScript {
  const result = script.safeParse(value);
  if (result.success) return result.data;
  throw new CodedError(
    'MODEL_SCRIPT_INVALID',
    `The model script can't be used. ${z.prettifyError(result.error)}`,
    { details: { issues: result.error.issues.map((issue) => issue.path.join('.')) } },
  );
}

export function ruleMatches(rule: ModelRule, input: string): boolean {
  const { equals, includes, startsWith } = rule.when;
  if (equals !== undefined) return input === equals;
  if (includes !== undefined) return input.includes(includes);
  return startsWith !== undefined && input.startsWith(startsWith);
}
