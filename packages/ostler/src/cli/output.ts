import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/** Where a command's results go: lines for people, one document for programs. */
export interface Output {
  lines(rows: readonly (readonly [label: string, value: string])[]): void;
  /** A line, made harmless but for the colours of `style`. */
  text(line: string): void;
  /** Coloured where colours are shown: on a terminal, without NO_COLOR. */
  style(style: Style, text: string): string;
  /** One JSON document, on one line. */
  json(value: unknown): void;
}

/** What others wrote, made harmless for a terminal: control characters become blanks, line breaks stay. */
export function shown(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, ' ');
}

/** As shown, but with the colours that `style` gives. */
function harmless(line: string): string {
  return line.replace(/\u001b\[\d{1,2}m|[^\P{Cc}\n]/gu, (found) =>
    found.length > 1 ? found : ' ',
  );
}

/** Colours only where `stream` is a terminal that has them. */
export function outputTo(stream: NodeJS.WriteStream): Output {
  const colours = stream.isTTY && stream.hasColors();
  const style = (name: Style, text: string): string => (colours ? styleText(name, text) : text);
  return {
    style,
    lines(rows) {
      const width = Math.max(0, ...rows.map(([label]) => label.length));
      for (const [label, value] of rows) {
        const indented = shown(value).replaceAll('\n', `\n${' '.repeat(width + 2)}`);
        stream.write(`${style('dim', label.padEnd(width))}  ${indented}\n`);
      }
    },
    text(line) {
      stream.write(`${harmless(line)}\n`);
    },
    json(value) {
      stream.write(`${JSON.stringify(value)}\n`);
    },
  };
}
