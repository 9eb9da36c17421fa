export type { ProcessExit, ProcessIdentity, PtyEndpoint, WriteOutcome } from './pty-endpoint.js';
export { Screen } from './screen.js';
export type {
  CellStyle,
  Colour,
  ScreenRow,
  ScreenSnapshot,
  StyledRun,
  TerminalModes,
  TerminalSignals,
} from './snapshot.js';
