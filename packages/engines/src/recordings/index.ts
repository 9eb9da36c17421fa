export { type Cast, loadCast } from './cast.js';
export { type Moment, momentSeconds, replayCast, replayScreens } from './replay.js';
export {
  type ExpectedMoment,
  findFixtures,
  inOrder,
  type RecordingFixture,
  type SideFile,
} from './side-file.js';
