import { InvalidArgumentError } from 'commander';

/** A control key, as it is shown and as it is found among what was typed. */
export interface DetachKey {
  readonly name: string;
  /** What was typed before it; null where it isn't in there. Bytes as latin1 text. */
  before(typed: string): string | null;
}

const controlBit = 4;
/** Caps lock and num lock don't make another key of it. */
const locks = 64 | 128;

/** `ctrl-` and a letter or one of `] \\ ^ _ @`. */
export function detachKey(value: string): DetachKey {
  const [, letter] = /^ctrl-([a-z@\\\]^_])$/i.exec(value) ?? [];
  if (letter === undefined) {
    throw new InvalidArgumentError('give ctrl- and a letter or one of ] \\ ^ _ @, such as ctrl-].');
  }
  const small = letter.toLowerCase();
  const plain = String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f);
  return {
    name: `Ctrl-${letter.toUpperCase()}`,
    before(typed) {
      const found = [typed.indexOf(plain), reportedAt(typed, small.charCodeAt(0))];
      const at = found.filter((each) => each >= 0);
      return at.length === 0 ? null : typed.slice(0, Math.min(...at));
    },
  };
}

/** The key as terminals send it that were asked to tell keys apart; letting it go is no press. */
function reportedAt(typed: string, code: number): number {
  const reports = /\u001b\[(?:(\d+)(?::\d*)*;(\d+)(?::([12]))?(?:;[\d:]*)?u|27;(\d+);(\d+)~)/g;
  for (const report of typed.matchAll(reports)) {
    const [, key = report[5], modifiers = report[4]] = report;
    const held = (Number(modifiers) - 1) & ~locks;
    if (Number(key) === code && held === controlBit) return report.index;
  }
  return -1;
}
