export type {
  AnswerPlan,
  AnswerStep,
  BodyVerdict,
  DraftMatch,
  Engine,
  EngineObserver,
  EngineReader,
  LaunchPlan,
  LaunchRequest,
  ObserveRequest,
  PreparedBody,
} from './engine.js';
export type { EngineEvent } from './engine-event.js';
export {
  type CollapseMarker,
  type Composer,
  type OpenQuestion,
  type QuestionPrompt,
  type Reading,
  type ReadingSignal,
  unreadable,
} from './reading.js';
export {
  type RecordLine,
  RecordTail,
  type RecordTailOptions,
} from './record-tail.js';
