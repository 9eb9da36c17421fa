import type { RealEngineName } from './pinned-engine.js';

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
