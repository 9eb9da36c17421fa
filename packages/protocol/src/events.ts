import type { Receipt } from './receipt.js';
import type { FocusState } from './focus-state.js';
import type { TurnResult } from './turn-correlation.js';
import type { TurnSummary, TurnTool } from './turn-payloads.js';

/** A question dialog's prompts as a client shows them. */
export interface EventQuestion {
  readonly header: string | null;
  readonly text: string;
  readonly options: readonly string[];
  readonly multiSelect: boolean;
}

export interface AgentSummary {
  readonly machineId: string;
  readonly agentId: string;
  readonly name: string;
  readonly engine: string;
  readonly version: string | null;
  readonly state: string;
  readonly hold?: string;
  /** Inputs waiting with us. */
  readonly queued: number;
  readonly recap?: string;
}

/** The payload of each kind that has a schema. */
export interface EventPayloads {
  readonly 'receipt.updated': { readonly receipt: Receipt };
  /** `deliveryIds` is empty where a person or the engine itself began the turn. */
  readonly 'turn.started': { readonly turnId: string; readonly deliveryIds: readonly string[] };
  /** The turn's end. It completes no receipt by itself. */
  readonly 'turn.done': {
    readonly turnId: string;
    readonly outcome: 'completed' | 'failed' | 'cancelled';
  };
  readonly 'turn.error': {
    readonly turnId: string | null;
    readonly code: string;
    readonly message: string;
  };
  /** `requestId` is what `question.answer` names as questionRequestId. */
  readonly 'question.open': {
    readonly requestId: string;
    readonly questions: readonly EventQuestion[];
  };
  readonly 'question.close': { readonly requestId: string };
  /** All agents where `complete`; else, where they are too many, those that changed: see `agents.list`. */
  readonly 'agents.changed': {
    readonly agents: readonly AgentSummary[];
    readonly complete: boolean;
  };
  readonly 'agent.error': { readonly code: string; readonly message: string };
  readonly 'focus.changed': FocusState;
  readonly 'turn.result': TurnResult;
  readonly 'turn.summary': TurnSummary;
  readonly 'turn.tool': TurnTool;
}

export type EventKind = keyof EventPayloads;

/** An event as it crosses the edge. */
export interface OstlerEvent {
  readonly type: 'event';
  readonly eventId: number;
  readonly serverInstanceId: string;
  readonly machineId: string;
  readonly agentId?: string;
  readonly kind: EventKind;
  readonly payload: Readonly<Record<string, unknown>>;
}
