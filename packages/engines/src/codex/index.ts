import type { Engine } from '../engine.js';
import { planCodexLaunch } from './launch.js';
import { CodexObserver } from './observer.js';
import { CodexReader } from './reader.js';

/** OpenAI's Codex CLI in its terminal. */
export const codexEngine: Engine = {
  id: 'codex',
  verifiedVersions: ['0.156.1', '0.169.0'],
  planLaunch: planCodexLaunch,
  reader: (version) => new CodexReader(version),
  observe: (request) => new CodexObserver(request),
};

export { CodexObserver } from './observer.js';
export { CodexReader } from './reader.js';
export { CodexRecordReader } from './record.js';
