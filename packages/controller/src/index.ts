export type { ControlPen } from './control-right.js';
export {
  type InputState,
  inputMachine,
  type MachineStep,
  startInput,
  stepInput,
} from './input-machine.js';
export { type ControllerLimits, defaultLimits } from './limits.js';
export type {
  ActiveInput,
  InputCommand,
  InputContext,
  InputEvent,
  ReceiptChange,
  TimerName,
} from './machine-types.js';
export type { Observation } from './observation.js';
export type { JournalPort, SessionListener, TerminalPort, WriteRight } from './ports.js';
export {
  SessionController,
  type SessionControllerOptions,
  type SubmitVerdict,
} from './session-controller.js';
