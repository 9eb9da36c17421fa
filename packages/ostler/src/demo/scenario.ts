import type { ModelScript, ScriptInput } from '@ostler/lab';

/** The four texts of the demo, by the part they play. */
export const demoTexts = {
  /** A long task. */
  a: 'Refactor the parser, then run all of its tests.',
  /** Sent while A is under way. */
  b: 'Also keep the old error messages.',
  c: 'And write one line about it in the changelog.\nNo more than that.',
  /** Sent while a permission dialog is open. */
  d: 'When you are done, tell me what changed.',
} as const;

export type DemoPart = keyof typeof demoTexts;

/** The texts' keys on receipts. */
export function demoKey(part: DemoPart): string {
  return `demo-${part}`;
}

export const demoParts: readonly DemoPart[] = ['a', 'b', 'c', 'd'];

/** How long a person is given to see each step, in milliseconds. */
export interface Pace {
  readonly stepMs: number;
}

/** For a person who watches, and for nobody. */
export const paces: { readonly watched: Pace; readonly unwatched: Pace } = {
  watched: { stepMs: 1_700 },
  unwatched: { stepMs: 0 },
};

/** The agent's terminal where nobody watches, in cells. */
export const unwatchedSizes = {
  simulated: { cols: 80, rows: 16 },
  real: { cols: 100, rows: 32 },
} as const;

/** What the simulated agent does: everything waits for the demo's word. */
export const simulatedScript: ScriptInput = {
  busyRule: 'steering',
  boundaryMs: null,
  turns: [
    {
      text: 'Refactor',
      until: 'finish',
      output: ['Reading src/parser.ts', 'Running the tests …'],
    },
    { text: 'error messages', output: ['Right, the old messages stay.'] },
    { text: 'changelog', output: ['One line in CHANGELOG.md.'] },
    { text: 'what changed', answer: 'The parser is two files now; its 212 tests pass.' },
  ],
};

const waitFor = {
  name: 'wait-for',
  // 250 looks, a tenth of a second apart: an engine's patience with one command.
  script: '#!/bin/sh\nn=0\nwhile [ ! -e "$1" ] && [ $n -lt 250 ]; do sleep 0.1; n=$((n+1)); done\n',
};

/** The same story for a real agent: what its model does, and what a person presses. */
export const realDemo: {
  readonly model: ModelScript;
  readonly waitFor: { readonly name: string; readonly script: string };
  /** Made by the command that asks for permission. */
  readonly asked: string;
  readonly personMs: number;
  readonly allowKeys: Readonly<Record<'codex' | 'claude', string>>;
  readonly extraArgs: Readonly<Record<'codex' | 'claude', readonly string[]>>;
} = {
  model: {
    rules: [
      {
        when: { equals: demoTexts.a },
        steps: [
          { do: 'say', text: 'Reading the parser, then the tests.' },
          { do: 'shell', command: `./${waitFor.name} boundary` },
          { do: 'hold', name: 'dialog' },
          { do: 'shell', command: 'touch changed', ask: true },
          { do: 'shell', command: `./${waitFor.name} finish` },
          { do: 'say', text: 'The parser is two files now; its 212 tests pass.' },
        ],
      },
    ],
    otherwise: [{ do: 'say', text: 'Noted.' }],
  },
  waitFor,
  asked: 'changed',
  personMs: 1_500,
  allowKeys: { codex: '\r', claude: '\r' },
  extraArgs: { codex: [], claude: ['--allowedTools', `Bash(./${waitFor.name}:*)`] },
};
