export type TextKind = '20 B' | '200 B' | '2 KB' | 'six lines';

export const textKinds: readonly TextKind[] = ['20 B', '200 B', '2 KB', 'six lines'];

const words = 'measure the time from a call to its proof and name every part of it ';
const linesCount = 6;

/** Plain ASCII of exactly the size its kind names, different for every number. */
export function textOf(kind: TextKind, number: number): string {
  switch (kind) {
    case '20 B':
      return sized(number, 20);
    case '200 B':
      return sized(number, 200);
    case '2 KB':
      return sized(number, 2048);
    case 'six lines':
      return Array.from({ length: linesCount }, (_, line) => `${number}.${line} ${words}`)
        .join('\n')
        .trimEnd();
  }
}

/** What stands at the beginning of a text and nowhere else. */
export function beginningOf(text: string): string {
  return text.slice(0, beginningCharacters).trimEnd();
}

const beginningCharacters = 12;

function sized(number: number, bytes: number): string {
  const text = `${number} ${words.repeat(Math.ceil(bytes / words.length))}`.slice(0, bytes);
  return text.endsWith(' ') ? `${text.slice(0, -1)}.` : text;
}
