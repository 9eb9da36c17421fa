import type { AgentSummary, EventQuestion } from './events.js';
import type { FocusState } from './focus-state.js';
import type { Receipt } from './receipt.js';
import type { Operation } from './requests.js';

export interface RecapTurn {
  readonly turnId: string;
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'running';
  /** At most 60 characters. */
  readonly recap: string;
  /** At most 250 characters. */
  readonly text: string;
  /** At most 8,192 bytes in UTF-8; cut on a character, with `…`. */
  readonly fullText: string;
  /** Milliseconds since the Unix epoch of the turn's last entry. */
  readonly at: number;
}

/** What is known of an engine's version: how an Enter is taken while it is busy, and whether recordings of this version prove it. */
export interface EngineCertificate {
  readonly engine: string;
  readonly version: string | null;
  readonly busyMode: string;
  readonly verified: boolean;
}

export interface ScreenReading {
  readonly readable: boolean;
  readonly hold: string | null;
  readonly busy: boolean;
  readonly composer: { readonly draft: string; readonly ghost: string | null } | null;
  readonly queue: readonly string[];
}

export interface DeviceSummary {
  readonly deviceId: string;
  readonly name: string;
  readonly addedAtMs: number;
  readonly lastSeenMs: number | null;
  readonly revoked: boolean;
}

export interface HostSummary {
  readonly hostId: string;
  readonly pid: number;
  readonly version: string;
  readonly agents: number;
}

interface MutationResult {
  /** `duplicate`: the key was claimed before by the same request; nothing more is done. */
  readonly status: 'accepted' | 'duplicate';
  readonly receipt: Receipt;
}

type Nothing = Readonly<Record<never, never>>;

/** What each operation's answer carries beside `type` and `requestId`. */
export interface OperationResults {
  readonly hello: {
    readonly proto: number;
    readonly machineId: string;
    readonly serverInstanceId: string;
    readonly capabilities: readonly string[];
    /** True: events after the given cursor follow. */
    readonly resumed: boolean;
    /** The newest event's id. */
    readonly cursor: number;
  };
  readonly 'agents.list': {
    readonly machineId: string;
    readonly agents: readonly AgentSummary[];
    /** False: one frame does not take them all. Those that follow come in the order of their ids: ask again with `after`. */
    readonly complete: boolean;
  };
  readonly status: {
    readonly state: string;
    readonly openQuestion: {
      readonly requestId: string;
      readonly questions: readonly EventQuestion[];
    } | null;
    readonly hold?: string;
    /** Inputs that wait with us. */
    readonly queued: number;
  };
  readonly recap: { readonly turns: readonly RecapTurn[] };
  readonly 'turn.send': MutationResult;
  readonly 'turn.stop': MutationResult;
  readonly 'question.answer': MutationResult;
  /** Null proves nothing: receipts leave. */
  readonly 'receipt.get': { readonly receipt: Receipt | null };
  readonly 'receipt.wait': {
    readonly receipt: Receipt;
    readonly waitEnded: 'reached' | 'timeout';
  };
  readonly 'receipts.list': { readonly receipts: readonly Receipt[] };
  readonly 'focus.get': FocusState;
  readonly 'focus.set': FocusState;
  /** Milliseconds since the Unix epoch. */
  readonly 'agent.subscribe': { readonly expiresAtMs: number };
  readonly 'agent.unsubscribe': Nothing;
  readonly 'pair.revoke': Nothing;
  readonly 'agent.launch': {
    readonly machineId: string;
    readonly agentId: string;
    readonly name: string;
    readonly version: string | null;
    readonly certificate: EngineCertificate;
  };
  readonly 'agent.sessions': {
    readonly machineId: string;
    /** Agents whose session isn't known are left out. */
    readonly sessions: readonly AgentEngineSession[];
    /** As of `agents.list`. */
    readonly complete: boolean;
  };
  readonly 'agent.close': Nothing;
  readonly 'agent.resize': Nothing;
  readonly 'agent.screen': {
    /** The place of the first of `rows` on the screen: more than 0 where one frame does not take them all. */
    readonly firstRow: number;
    readonly rows: readonly string[];
    readonly cols: number;
    readonly cursor: { readonly column: number; readonly row: number };
    readonly modes: {
      readonly bracketedPaste: boolean;
      readonly alternateScreen: boolean;
      readonly cursorVisible: boolean;
      readonly synchronizedOutput: boolean;
    };
    readonly reading: ScreenReading;
  };
  readonly 'agent.attach': {
    readonly attachId: string;
    readonly cols: number;
    readonly rows: number;
    /** Base64: paints the screen as it is on a cleared terminal. May be followed by `output` frames that finish it. */
    readonly paint: string;
  };
  readonly 'agent.detach': Nothing;
  readonly 'agent.input': { readonly outcome: 'passed_on' | 'held' };
  readonly 'agent.size': Nothing;
  readonly 'receipt.resolve': Nothing;
  readonly 'server.status': {
    readonly machineId: string;
    readonly serverInstanceId: string;
    readonly pid: number;
    readonly version: string;
    readonly startedAtMs: number;
    readonly uptimeMs: number;
    readonly agents: number;
    readonly connections: number;
    readonly devices: number;
    readonly rssBytes: number;
    readonly hosts: readonly HostSummary[];
    /** Counts since the start, by name. */
    readonly metrics: Readonly<Record<string, number>>;
  };
  /** The token is shown this once; only its hash is kept. */
  readonly 'device.add': { readonly deviceId: string; readonly token: string };
  readonly 'device.list': { readonly devices: readonly DeviceSummary[] };
  readonly 'device.revoke': Nothing;
}

/** The engine session an agent is in, by the engine's own word. */
export interface AgentEngineSession {
  readonly agentId: string;
  readonly engine: string;
  readonly version: string | null;
  readonly sessionId: string;
  /** Where the agent was started. */
  readonly workspace: string;
}

export type ResultOf<Name extends Operation> = OperationResults[Name];

/** A view of an agent's terminal, as it goes on after `agent.attach`. Not replayed. */
export type TerminalFrame = { readonly type: 'terminal'; readonly attachId: string } & (
  | { readonly kind: 'output'; readonly data: string }
  | { readonly kind: 'size'; readonly cols: number; readonly rows: number }
  /** The viewer was too slow; `paint` begins anew. */
  | { readonly kind: 'lost'; readonly paint: string }
  | {
      readonly kind: 'gone';
      readonly exitCode: number | null;
      readonly signal: number | null;
    }
);

/** Told behind `hello_result` where the events since the cursor can't be sent again. */
export interface ResyncFrame {
  readonly type: 'resync';
  readonly reason: 'instance_changed' | 'cursor_too_old';
  readonly serverInstanceId: string;
  readonly cursor: number;
}
