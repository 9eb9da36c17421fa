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
  EndedDelivery,
  InputCommand,
  InputContext,
  InputEvent,
  ReceiptChange,
  TimerName,
  TurnEnd,
} from './machine-types.js';
export type { Observation } from './observation.js';
export type { JournalPort, SessionListener, TerminalPort, WriteRight } from './ports.js';
export type { RestoredInput } from './restored.js';
export {
  type PastedNote,
  SessionController,
  type SessionControllerOptions,
  type SubmitVerdict,
} from './session-controller.js';
