import type headless from '@xterm/headless';
import type { ControlSequence, XtermInternals } from './xterm-internals.js';

/** Insert, delete and scroll lines; more than the screen has rows is the same as all of them. */
const finalsOfRows = ['L', 'M', 'S', 'T'];
/** Tab stops, on and back. */
const finalsOfColumns = ['I', 'Z'];
const repeatCharacter = 'b';

const eraseDisplay: readonly ControlSequence[] = [{ final: 'J' }, { prefix: '?', final: 'J' }];
const [toTheCursor, everything] = [1, 2];

/**
 * What @xterm/headless 6.0.0 does not bear. A control sequence of ten bytes can ask for two
 * thousand million steps, and they would be taken one by one: none gets more than fill the
 * screen. And erasing up to the cursor throws where that is the last cell of all, since there
 * is no row below: it is everything then.
 *
 * Without the internals such a sequence is left out.
 */
export function guardSequences(terminal: headless.Terminal, internals: XtermInternals): void {
  const change = (sequence: ControlSequence, instead: (asked: number) => number): void => {
    if (internals.changeFirstParameter) internals.changeFirstParameter(sequence, instead);
    else
      terminal.parser.registerCsiHandler(sequence, ([first]) => {
        const asked = Number(first ?? 0);
        return instead(asked) !== asked;
      });
  };
  const atMost = (final: string, most: () => number): void =>
    change({ final }, (asked) => Math.min(asked, most()));
  for (const final of finalsOfRows) atMost(final, () => terminal.rows);
  for (const final of finalsOfColumns) atMost(final, () => terminal.cols);
  atMost(repeatCharacter, () => terminal.rows * terminal.cols);
  const atLastCell = (): boolean => {
    const { cursorX, cursorY } = terminal.buffer.active;
    return cursorX >= terminal.cols - 1 && cursorY === terminal.rows - 1;
  };
  for (const sequence of eraseDisplay)
    change(sequence, (asked) => (asked === toTheCursor && atLastCell() ? everything : asked));
}
