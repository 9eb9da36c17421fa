import type { ModelScript } from '@ostler/lab';

const colour = {
  header: 'Colour',
  question: 'Which colour shall the door have?',
  options: [
    { label: 'Green', description: 'Like the garden' },
    { label: 'Blue', description: 'Like the sky' },
  ],
};

/** A tool that says it runs by one file, and runs until another is there. */
const gatedTool = (name: string): string =>
  `touch ${name}-on; while [ ! -e ${name}-off ]; do sleep 0.05; done`;

/** What the model does, by the first word of a text; `n` tells rounds apart. */
export function liveScript(rounds: number): ModelScript {
  const rule = (
    word: string,
    steps: (name: string) => NonNullable<ModelScript['rules']>[number]['steps'],
  ): NonNullable<ModelScript['rules']> =>
    Array.from({ length: rounds }, (_, round) => ({
      when: { equals: `${word} ${round}` },
      steps: steps(`${word}-${round}`),
    }));
  return {
    rules: [
      ...rule('tool', (name) => [
        { do: 'shell', command: gatedTool(name) },
        { do: 'say', text: 'The tool has ended.' },
      ]),
      ...rule('stream', (name) => [
        { do: 'say', text: 'The first words.\n\nMore of it.\n\n', chunkChars: 4, chunkDelayMs: 5 },
        { do: 'hold', name },
        { do: 'say', text: 'The last words.' },
      ]),
      ...rule('think', (name) => [
        { do: 'hold', name },
        { do: 'say', text: 'Thought.' },
      ]),
      ...rule('permission', (name) => [
        { do: 'hold', name },
        { do: 'shell', command: `touch ${name}-approved`, ask: true },
        { do: 'say', text: 'Went on.' },
      ]),
      ...rule('question', (name) => [
        { do: 'hold', name },
        { do: 'ask', questions: [colour] },
        { do: 'say', text: 'Answered.' },
      ]),
      ...Array.from({ length: rounds }, (_, round) => ({
        when: { equals: `race ${round}` },
        steps: [
          { do: 'hold' as const, name: `race-${round}` },
          { do: 'think' as const, ms: round * 40 },
          { do: 'shell' as const, command: `touch race-${round}-approved`, ask: true },
          { do: 'say' as const, text: 'Went on.' },
        ],
      })),
    ],
    otherwise: [{ do: 'say', text: 'Done.' }],
  };
}
