import { mkdirSync } from 'node:fs';
import { claudeRecipe } from './claude-recipe.js';
import { codexRecipe } from './codex-recipe.js';
import { nativeExecutable } from './pinned-engine.js';
import type { RealEngineLaunch, RealEngineRequest } from './real-engine-request.js';

/**
 * Furnishes a home for a pinned engine so that it runs offline against the scripted model.
 * Start it inside an offline sandbox only. Throws CodedError ENGINE_NOT_INSTALLED,
 * ENGINE_PLATFORM_UNSUPPORTED.
 */
export function prepareRealEngine(request: RealEngineRequest): RealEngineLaunch {
  const command = nativeExecutable(request.enginesDir, request);
  mkdirSync(request.homeDir, { recursive: true, mode: 0o700 });
  mkdirSync(request.workDir, { recursive: true });
  const options = request.options ?? {};
  const recipe =
    request.engine === 'claude' ? claudeRecipe(request, options) : codexRecipe(request, options);
  const base: Record<string, string> = {
    HOME: request.homeDir,
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
  };
  return {
    command,
    args: [...recipe.args, ...(options.extraArgs ?? [])],
    env: { ...base, ...recipe.env, ...options.extraEnv },
    cwd: request.workDir,
  };
}
