import { type Ids, randomIds } from '@ostler/runtime';
import type { Engine } from '../engine.js';
import { planLaunch } from './launch.js';
import { ClaudeObserver } from './observer.js';
import { ClaudeReader } from './reader.js';

/** Claude Code; recorded with 2.1.280 and 2.1.328. */
export function createClaudeEngine(options: { readonly ids?: Ids } = {}): Engine {
  const ids = options.ids ?? randomIds;
  return {
    id: 'claude',
    verifiedVersions: ['2.1.280', '2.1.328'],
    planLaunch: (request) => planLaunch(request, ids),
    reader: (version) => new ClaudeReader(version),
    observe: (request) => new ClaudeObserver(request),
  };
}

export const claudeEngine: Engine = createClaudeEngine();
