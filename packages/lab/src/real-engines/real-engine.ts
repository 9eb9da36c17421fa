import { mkdirSync } from 'node:fs';
import { claudeRecipe } from './claude-recipe.js';
import { codexRecipe } from './codex-recipe.js';
import { nativeExecutable, type RealEngineName } from './pinned-engine.js';

export interface RealEngineOptions {
  /** False: the engine asks whether it may trust the folder. */
  readonly trusted?: boolean;
  /** False: the engine shows its first-run screens. */
  readonly onboarded?: boolean;
  /** Claude. False: the engine asks whether to use the key found in its environment. */
  readonly keyApproved?: boolean;
  /**
   * `ask` (default): a tool that changes something needs a person's yes where the script asks for it.
   * `free`: nothing asks. `plan`: Claude's plan mode.
   */
  readonly permissions?: 'ask' | 'free' | 'plan';
  /** Claude 2.1.328. False: shortly after the composer a dialog offers to make auto mode the default. */
  readonly autoModeDeclined?: boolean;
  /** Claude. False: `free` opens with a warning that a person has to accept. */
  readonly freeAccepted?: boolean;
  /** Claude's default when left out is `claude-sonnet-4-5`, Codex's `gpt-5.1-codex`. */
  readonly model?: string;
  /** Codex. A version it shall believe to be out: the update dialog opens at start. */
  readonly updateAvailable?: string;
  /** A hook command for prompt submission; Codex asks for its review unless `hooksTrusted`. */
  readonly promptHook?: string;
  readonly hooksTrusted?: boolean;
  /** Codex. Lets its shared background server start, as a plain launch does. */
  readonly daemon?: boolean;
  readonly extraArgs?: readonly string[];
  readonly extraEnv?: Readonly<Record<string, string>>;
}

export interface RealEngineRequest {
  readonly engine: RealEngineName;
  readonly version: string;
  /** Where `npm run engines` put the pins: `.engines` of the repository. */
  readonly enginesDir: string;
  /** A fresh folder, outside the system's temporary one. */
  readonly homeDir: string;
  readonly workDir: string;
  /** The scripted model's `url`. */
  readonly modelUrl: string;
  readonly options?: RealEngineOptions;
}

/** What to start, ready for a terminal. */
export interface RealEngineLaunch {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface RecipeResult {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

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
