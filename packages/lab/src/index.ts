export type { ModelRequest, PromptInput } from './model-server/model-request.js';
export {
  type LoggedRequest,
  type ModelServer,
  type ModelServerEvents,
  startModelServer,
} from './model-server/model-server.js';
export type { ReceivedPrompt, ReceivedText } from './model-server/received-ledger.js';
export {
  checkScript,
  type ModelQuestion,
  type ModelRule,
  type ModelScript,
  type ModelStep,
  type ModelStepInput,
} from './model-server/script.js';
export {
  nativeExecutable,
  type PinnedEngine,
  type RealEngineName,
} from './real-engines/pinned-engine.js';
export { prepareRealEngine } from './real-engines/real-engine.js';
export type {
  RealEngineLaunch,
  RealEngineOptions,
  RealEngineRequest,
} from './real-engines/real-engine-request.js';
export { isOffline } from './sandbox/loopback.js';
export { type OfflineCommand, offlineCommand } from './sandbox/offline-command.js';
export {
  type OwnProcess,
  processesOfHome,
  stopProcessesOfHome,
} from './sandbox/own-processes.js';
export { defaultRoomDir, openSandbox, type Sandbox } from './sandbox/sandbox.js';
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
export { claudeSession } from './traces/claude-session.js';
export { codexThread } from './traces/codex-thread.js';
export { damage, type Random, randomFrom, type Trace, type Truth } from './traces/damage.js';
