import type { LocalRequest } from './local-requests.js';
import type { RequestBase, Targeted } from './request-base.js';

/** A connection's first request; a later one replaces its choice of capabilities. */
export interface HelloRequest extends RequestBase {
  readonly type: 'hello';
  readonly proto: number;
  /** The device's secret, where the transport did not bring it. */
  readonly token?: string;
  /** Names this server doesn't know are left out of the answer. */
  readonly capabilities?: readonly string[];
  /** Where the last connection stopped: events after it are sent again. */
  readonly resume?: { readonly serverInstanceId: string; readonly cursor: number };
}

export interface AgentsListRequest extends RequestBase {
  readonly type: 'agents.list';
  /** The last agent id of the answer before, where that was not complete. */
  readonly after?: string;
}

export interface StatusRequest extends Targeted {
  readonly type: 'status';
}

export interface RecapRequest extends Targeted {
  readonly type: 'recap';
  /** Turns, newest last: 1 to 5; 3 where left out. */
  readonly n?: number;
}

export interface TurnSendRequest extends Targeted {
  readonly type: 'turn.send';
  readonly idempotencyKey: string;
  /** Not blank, at most 16,384 bytes in UTF-8, never cut. */
  readonly text: string;
  readonly focusRevision?: number;
}

/**
 * Interrupts the running turn. Its receipt is `delivered` once the screen shows that the agent has
 * stopped, and `completed` once the engine's record has the end of that turn.
 */
export interface TurnStopRequest extends Targeted {
  readonly type: 'turn.stop';
  readonly idempotencyKey: string;
}

/**
 * Answers an open question, never a permission. Its receipt is `delivered` once the screen shows the
 * answer taken, and `completed` once the engine's record has the end of the turn that asked; it is
 * `unknown` where that turn was interrupted or failed.
 */
export interface QuestionAnswerRequest extends Targeted {
  readonly type: 'question.answer';
  readonly idempotencyKey: string;
  readonly questionRequestId: string;
  /** Not empty. */
  readonly answers: Readonly<Record<string, string>>;
  readonly focusRevision?: number;
}

export interface ReceiptGetRequest extends RequestBase {
  readonly type: 'receipt.get';
  readonly idempotencyKey: string;
}

/** What `receipt.wait` waits for. */
export type WaitUntil = 'accepted' | 'started' | 'settled';

export interface ReceiptWaitRequest extends RequestBase {
  readonly type: 'receipt.wait';
  readonly idempotencyKey: string;
  readonly until: WaitUntil;
  /** At most 60,000. */
  readonly timeoutMs: number;
}

/** The device's own receipts, newest first. */
export interface ReceiptsListRequest extends RequestBase {
  readonly type: 'receipts.list';
  /** `all` where left out. */
  readonly state?: 'unresolved' | 'all';
  readonly agentId?: string;
  /** 1 to 512; 50 where left out. */
  readonly limit?: number;
}

export interface FocusGetRequest extends RequestBase {
  readonly type: 'focus.get';
}

export interface FocusSetRequest extends RequestBase {
  readonly type: 'focus.set';
  readonly machineId: string;
  /** Null takes the focus away. */
  readonly agentId: string | null;
}

export type StreamKind = 'tool' | 'text' | 'final';

export interface AgentSubscribeRequest extends Targeted {
  readonly type: 'agent.subscribe';
  /** 1 to 300; 60 where left out. A second subscription of the agent replaces the first. */
  readonly ttlSec?: number;
  /** All three where left out. */
  readonly include?: readonly StreamKind[];
}

export interface AgentUnsubscribeRequest extends Targeted {
  readonly type: 'agent.unsubscribe';
}

/** The device gives its own pairing up. */
export interface PairRevokeRequest extends RequestBase {
  readonly type: 'pair.revoke';
}

export type OstlerRequest =
  | HelloRequest
  | AgentsListRequest
  | StatusRequest
  | RecapRequest
  | TurnSendRequest
  | TurnStopRequest
  | QuestionAnswerRequest
  | ReceiptGetRequest
  | ReceiptWaitRequest
  | ReceiptsListRequest
  | FocusGetRequest
  | FocusSetRequest
  | AgentSubscribeRequest
  | AgentUnsubscribeRequest
  | PairRevokeRequest
  | LocalRequest;

export type Operation = OstlerRequest['type'];

export type RequestOf<Name extends Operation> = Extract<OstlerRequest, { readonly type: Name }>;
