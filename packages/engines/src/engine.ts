import type { InputMode } from '@ostler/protocol';
import type { Clock, Logger } from '@ostler/runtime';
import type { ProcessIdentity, ScreenSnapshot } from '@ostler/terminal';
import type { EngineEvent } from './engine-event.js';
import type { OpenQuestion, Reading, ReadingSignal } from './reading.js';

/** A text made safe to paste into one engine at one screen size. */
export interface PreparedBody {
  /** Pasted in order, back to back, each in brackets of its own. */
  readonly frames: readonly string[];
  /** What the engine is expected to hold as the prompt. */
  readonly text: string;
}

export type BodyVerdict =
  | { readonly kind: 'ready'; readonly body: PreparedBody }
  /** No form keeps the meaning exactly; `reason` is a stable word, `message` says what to do. */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/**
 * `exact`: the whole draft is ours. `partial`: a beginning of ours, still being echoed.
 * `empty`: no draft. `other`: anything else, a person's text included.
 */
export type DraftMatch = 'empty' | 'partial' | 'exact' | 'other';

export interface AnswerStep {
  /** Raw key bytes, written under the control right. */
  readonly keys: string;
  /** True once the screen shows that the step took effect. */
  readonly settled: (reading: Reading) => boolean;
}

export type AnswerPlan =
  | { readonly kind: 'ready'; readonly steps: readonly AnswerStep[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/** Everything an engine version tells from a screen alone. Pure: equal input, equal answer. */
export interface EngineReader {
  readonly engine: string;
  /** Null where it isn't known; then everything is read conservatively. */
  readonly version: string | null;
  /** Where Enter sends an input while the engine is busy. */
  readonly busyMode: Exclude<InputMode, 'direct'>;
  /**
   * Between an idle input's acceptance and its turn's start an Enter goes elsewhere (a queue
   * that later inputs overtake): the next input waits for the start.
   */
  readonly awaitsTurnStart?: boolean;
  /**
   * A reason not to type that is no dialog and no draft: what is typed now would overtake
   * something the engine holds back. Null where there is none.
   */
  overtakes?(reading: Reading): string | null;
  /** `side` are signals from beside the screen; they can forbid typing, never allow it. */
  read(snapshot: ScreenSnapshot, side?: readonly ReadingSignal[]): Reading;
  prepareBody(text: string, snapshot: ScreenSnapshot): BodyVerdict;
  matchDraft(reading: Reading, body: PreparedBody, snapshot: ScreenSnapshot): DraftMatch;
  /** SHA-256 (hex) over the text as this engine records it, its envelopes unwrapped. */
  fingerprint(text: string): string;
  /** Bytes that interrupt the running turn, or null where the screen doesn't allow it now. */
  stopKeys(reading: Reading): string | null;
  /**
   * Key bytes that take exactly our own unsent draft back out of the composer, harmless
   * where it is gone already; null where no such keys are known. Pressed only after a look
   * that shows the draft as `exact` and nothing in the way.
   */
  eraseKeys?(reading: Reading, body: PreparedBody, snapshot: ScreenSnapshot): string | null;
  planAnswer(question: OpenQuestion, answers: Readonly<Record<string, string>>): AnswerPlan;
}

export interface LaunchRequest {
  /** Executable, by path or name; the engine's usual name where left out. */
  readonly command?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** A private directory (0700) of this session, for hook scripts and the like. */
  readonly sessionDir: string;
}

export interface LaunchPlan {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly version: string | null;
  /** The session it begins with, where the plan settles that. */
  readonly sessionId?: string;
}

export interface ObserveRequest {
  readonly plan: LaunchPlan;
  readonly request: LaunchRequest;
  readonly process: ProcessIdentity;
  readonly launchedAtMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onEvent: (event: EngineEvent) => void;
}

/** Follows one live session's record, hooks and side files until disposed. */
export interface EngineObserver extends AsyncDisposable {
  /** Side signals as of now, for `EngineReader.read`. */
  signals(): readonly ReadingSignal[];
  /** The engine's own id of the session its process is in now; null where it doesn't tell. */
  sessionId?(): string | null;
  /** Resolves once what the session's files said at the call has been told. */
  catchUp?(): Promise<void>;
  /** Something happens in the session: for a while, files are looked at even without an event of theirs. */
  attend?(): void;
}

/** One agent CLI. */
export interface Engine {
  readonly id: string;
  /** Those whose screens and records are among the recordings. */
  readonly verifiedVersions?: readonly string[];
  /**
   * Finds the executable and its version and says how to start it.
   * Throws CodedError ENGINE_NOT_FOUND, ENGINE_VERSION_UNSUPPORTED.
   */
  planLaunch(request: LaunchRequest): Promise<LaunchPlan>;
  reader(version: string | null): EngineReader;
  observe(request: ObserveRequest): EngineObserver;
}
