import { styleText } from 'node:util';

/** Where a command's results go: a table for people, one document for programs. */
export interface Output {
  lines(rows: readonly (readonly [label: string, value: string])[]): void;
  /** One JSON document, on one line. */
  json(value: unknown): void;
}

/** Colours only where `stream` is a terminal. */
export function outputTo(stream: NodeJS.WriteStream): Output {
  return {
    lines(rows) {
      const width = Math.max(0, ...rows.map(([label]) => label.length));
      for (const [label, value] of rows) {
        const padded = label.padEnd(width);
        const shown = stream.isTTY ? styleText('dim', padded) : padded;
        const indented = value.replaceAll('\n', `\n${' '.repeat(width + 2)}`);
        stream.write(`${shown}  ${indented}\n`);
      }
    },
    json(value) {
      stream.write(`${JSON.stringify(value)}\n`);
    },
  };
}
