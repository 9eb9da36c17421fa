export { countReceived, SimulatedControl } from './simulated-agent/control.js';
export { type DialogRow, dialogTable } from './simulated-agent/dialogs.js';
export { simulatedEngine, simulatedProgram, simulatedVersion } from './simulated-agent/engine.js';
export { type SimulatedLaunch, simulatedLaunch } from './simulated-agent/launch.js';
export { parseScript } from './simulated-agent/parse-script.js';
export type {
  Action,
  BusyRule,
  CollapseRule,
  DialogKind,
  DialogSpec,
  Look,
  PlanStep,
  PopupRule,
  RecordKind,
  RecordOptions,
  ScriptInput,
  SimulatedScript,
  Timing,
  Trigger,
  TurnRule,
} from './simulated-agent/script.js';
export { SimulatedSession } from './simulated-agent/simulated-session.js';
export type { TruthEvent, TruthKind } from './simulated-agent/truth.js';
