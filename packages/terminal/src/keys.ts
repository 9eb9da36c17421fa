export type KeyName =
  | 'enter'
  | 'escape'
  | 'tab'
  | 'shiftTab'
  | 'backspace'
  | 'delete'
  | 'insert'
  | 'space'
  | 'up'
  | 'down'
  | 'right'
  | 'left'
  | 'home'
  | 'end'
  | 'pageUp'
  | 'pageDown';

/** What the keys of an xterm send in normal cursor mode. */
export const keys: Readonly<Record<KeyName, string>> = {
  enter: '\r',
  escape: '\u001b',
  tab: '\t',
  shiftTab: '\u001b[Z',
  backspace: '\u007f',
  delete: '\u001b[3~',
  insert: '\u001b[2~',
  space: ' ',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  pageUp: '\u001b[5~',
  pageDown: '\u001b[6~',
};

type ControlLetter =
  | 'a'
  | 'b'
  | 'c'
  | 'd'
  | 'e'
  | 'f'
  | 'g'
  | 'h'
  | 'i'
  | 'j'
  | 'k'
  | 'l'
  | 'm'
  | 'n'
  | 'o'
  | 'p'
  | 'q'
  | 'r'
  | 's'
  | 't'
  | 'u'
  | 'v'
  | 'w'
  | 'x'
  | 'y'
  | 'z';

/** What Ctrl and a letter send. */
export function controlKey(letter: ControlLetter): string {
  return String.fromCharCode(letter.charCodeAt(0) - 0x60);
}
