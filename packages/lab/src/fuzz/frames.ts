import { type Operation, parseRequest } from '@ostler/protocol';
import type { Chance } from '../simulation/random.js';
import type { FrameCase, FramesCase, FuzzTally, Verdict } from './fuzz-case.js';
import { type Fields, goodRequest, machineId, sampleFields } from './request-samples.js';

const framesInOneCase = 50;

interface Breakage {
  readonly code: string;
  /** How the answer's message begins, or what it names. */
  readonly says: string;
  readonly possible: (request: Fields) => boolean;
  readonly apply: (request: Fields, chance: Chance) => void;
}

const wrong: readonly [unknown, ...unknown[]] = [
  null,
  5,
  true,
  [],
  {},
  -1,
  1.5,
  '',
  [[]],
  { a: 1 },
];
const has =
  (...names: readonly string[]) =>
  (request: Fields): boolean =>
    names.every((name) => name in request);
const always = (): boolean => true;
const not = (values: readonly unknown[]): [unknown, ...unknown[]] => {
  const [first, ...rest] = wrong.filter((value) => !values.includes(value));
  return [first, ...rest];
};

/** In the order of the checks: of several the first decides. */
const breakages: readonly Breakage[] = [
  {
    code: 'INVALID_REQUEST',
    says: 'requestId',
    possible: always,
    apply: (request, chance) => {
      request.requestId = chance.pick([
        ...wrong,
        'not-a-uuid',
        '11111111-1111-1111-8111-111111111111',
        `${String(request.requestId)} `,
      ]);
      if (chance.is(0.3)) delete request.requestId;
    },
  },
  {
    code: 'UNSUPPORTED_CAPABILITY',
    says: '',
    possible: always,
    apply: (request, chance) => {
      request.type = chance.pick([
        'input.status.v1',
        'turn.sent',
        '__proto__',
        'constructor',
        'toString',
        ' hello',
        '',
      ]);
    },
  },
  {
    code: 'INVALID_REQUEST',
    says: 'unknown field',
    possible: always,
    apply: (request, chance) => {
      const name = chance.pick([
        'device',
        'extra',
        'Text',
        'text ',
        'constructor',
        '__proto__',
        'deviceId2',
        '',
      ]);
      Object.defineProperty(request, name, {
        value: chance.pick(wrong),
        enumerable: true,
        configurable: true,
      });
    },
  },
  {
    code: 'INVALID_REQUEST',
    says: 'focusRevision',
    possible: has('focusRevision'),
    apply: (request, chance) => {
      request.focusRevision = chance.pick(not([5]));
    },
  },
  {
    code: 'MISSING_TARGET',
    says: '',
    possible: has('machineId', 'agentId'),
    apply: (request, chance) => {
      const name = chance.pick(['machineId', 'agentId']);
      const nullable = request.type === 'focus.set' && name === 'agentId';
      if (chance.is(0.5)) delete request[name];
      else request[name] = chance.pick(nullable ? not([null]) : wrong);
    },
  },
  {
    code: 'MACHINE_MISMATCH',
    says: '',
    possible: has('machineId'),
    apply: (request) => {
      request.machineId = 'another';
    },
  },
  {
    code: 'PAYLOAD_TOO_LARGE',
    says: 'text',
    possible: has('text'),
    apply: (request, chance) => {
      request.text = chance.pick(['x'.repeat(16_385), 'é'.repeat(8_193), '☕'.repeat(5_462)]);
    },
  },
  {
    code: 'INVALID_REQUEST',
    says: 'text',
    possible: has('text'),
    apply: (request, chance) => {
      request.text = chance.pick([...wrong, ' \n\t', '\u200b', 'half \ud83d']);
    },
  },
  {
    code: 'INVALID_REQUEST',
    says: 'idempotencyKey',
    possible: has('idempotencyKey'),
    apply: (request, chance) => {
      request.idempotencyKey = chance.pick([...wrong, 'a b', 'ü', 'x'.repeat(65), 'a\n']);
      if (chance.is(0.3)) delete request.idempotencyKey;
    },
  },
];

export function makeFrames(chance: Chance): FramesCase {
  return {
    kind: 'frames',
    frames: Array.from({ length: framesInOneCase }, () => makeFrame(chance)),
  };
}

function makeFrame(chance: Chance): FrameCase {
  const kind = chance.int(0, 9);
  if (kind === 0) return { text: blindText(chance) };
  if (kind === 1) return { text: JSON.stringify(anyJson(chance, 4)) };
  const request: Fields = goodRequest(chance);
  if (kind === 2) return { text: JSON.stringify(request), expected: null };
  if (kind < 5) return { text: JSON.stringify(reshaped(request, chance)) };
  if (kind === 5) return { text: torn(JSON.stringify(request), chance) };
  // One size and one wrong text can't both be there: a later breakage replaces an earlier one.
  const chosen = breakages.filter(({ possible }) => possible(request)).filter(() => chance.is(0.3));
  for (const breakage of chosen.toReversed()) breakage.apply(request, chance);
  const [first] = chosen;
  return {
    text: JSON.stringify(request),
    expected: first ? { code: first.code, says: first.says } : null,
  };
}

function blindText(chance: Chance): string {
  return Array.from({ length: chance.int(0, 60) }, () =>
    String.fromCharCode(chance.int(0, chance.is(0.5) ? 127 : 0xffff)),
  ).join('');
}

function anyJson(chance: Chance, depth: number): unknown {
  const kind = chance.int(0, depth > 0 ? 7 : 4);
  if (kind < 5) return chance.pick([...wrong, 'hello', 'turn.send', 1e308, '\ud800']);
  if (kind === 5) return Array.from({ length: chance.int(0, 4) }, () => anyJson(chance, depth - 1));
  const names = [
    'type',
    'requestId',
    'text',
    'machineId',
    '__proto__',
    'constructor',
    'x',
  ] as const;
  const made: Fields = {};
  for (let count = chance.int(0, 5); count > 0; count -= 1)
    Object.defineProperty(made, chance.pick(names), {
      value: anyJson(chance, depth - 1),
      enumerable: true,
      configurable: true,
    });
  return made;
}

/** A field gets a value of another shape; what it has to be answered with is not said. */
function reshaped(request: Fields, chance: Chance): Fields {
  const names = Object.keys(request);
  const name = names[chance.int(0, names.length - 1)] ?? 'type';
  return { ...request, [name]: anyJson(chance, 3) };
}

function torn(text: string, chance: Chance): string {
  const at = chance.int(0, text.length);
  return `${text.slice(0, at)}${chance.is(0.5) ? String.fromCharCode(chance.int(0, 255)) : ''}${text.slice(at + chance.int(0, 3))}`;
}

/** A request is refused by the first check it fails, and never taken with a field nobody knows. */
export function checkFrames({ frames }: FramesCase, tally: FuzzTally): Verdict {
  for (const { text, expected } of frames) {
    tally.frames += 1;
    const value = parsed(text);
    if (value === undefined) continue;
    const answer = parseRequest(value, { machineId });
    if (answer.kind === 'request') {
      if (expected) return `taken, though ${expected.code} ${expected.says}`;
      const unknown = unknownField(value as Fields, answer.request.type);
      if (unknown !== null) return `taken with the field ${unknown}`;
      if (Object.getPrototypeOf(answer.request) !== Object.prototype)
        return 'taken with a prototype';
      continue;
    }
    const { code, message } = answer.error;
    if (expected === null) return `refused, though it is right: ${code} ${message}`;
    if (expected && code !== expected.code) return `${code}, not ${expected.code}: ${message}`;
    if (expected && !message.startsWith(expected.says))
      return `“${message}” is not of ${expected.says}`;
    if (message.length > 600) return `a message of ${message.length} characters`;
  }
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined;
    throw failure;
  }
}

function unknownField(request: Fields, type: Operation): string | null {
  const known = ['type', 'requestId', ...Object.keys(sampleFields[type])];
  return Object.keys(request).find((name) => !known.includes(name)) ?? null;
}
