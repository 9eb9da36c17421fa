/** What every request carries. */
interface RequestBase {
  /** A UUIDv4; its answer carries it too. */
  readonly requestId: string;
}

interface Targeted extends RequestBase {
  readonly machineId: string;
  readonly agentId: string;
}

export interface TurnSendRequest extends Targeted {
  readonly type: 'turn.send';
  readonly idempotencyKey: string;
  /** Not blank, at most 16,384 bytes in UTF-8, never cut. */
  readonly text: string;
  readonly focusRevision?: number;
}

export interface TurnStopRequest extends Targeted {
  readonly type: 'turn.stop';
  readonly idempotencyKey: string;
}

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

export interface AgentLaunchRequest extends RequestBase {
  readonly type: 'agent.launch';
  readonly name: string;
  readonly engine: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** True: the agent gets `env` alone and nothing of the server's environment. */
  readonly cleanEnv?: boolean;
  readonly cols?: number;
  readonly rows?: number;
}

export interface AgentCloseRequest extends Targeted {
  readonly type: 'agent.close';
}

export interface AgentResizeRequest extends Targeted {
  readonly type: 'agent.resize';
  readonly cols: number;
  readonly rows: number;
}

export type OstlerRequest =
  | TurnSendRequest
  | TurnStopRequest
  | QuestionAnswerRequest
  | ReceiptGetRequest
  | ReceiptWaitRequest
  | AgentLaunchRequest
  | AgentCloseRequest
  | AgentResizeRequest;

export type Operation = OstlerRequest['type'];

export type RequestOf<Name extends Operation> = Extract<OstlerRequest, { readonly type: Name }>;
