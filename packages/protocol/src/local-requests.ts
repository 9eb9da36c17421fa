import type { RequestBase, Targeted } from './request-base.js';

export interface AgentLaunchRequest extends RequestBase {
  readonly type: 'agent.launch';
  readonly name: string;
  readonly engine: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * True: the agent gets `env` alone and nothing of the server's environment. `OSTLER_AGENT_ID`,
   * `OSTLER_ENGINE`, `OSTLER_STATE_DIR` and, where it is known, `OSTLER_SESSION_ID` are set in any
   * case.
   */
  readonly cleanEnv?: boolean;
  readonly cols?: number;
  readonly rows?: number;
  /** A new file that takes an asciicast v2 recording of the session. */
  readonly castPath?: string;
  /** True: a host process of its own. */
  readonly isolate?: boolean;
}

/** Which engine session each running agent is in, as far as the engines tell. */
export interface AgentSessionsRequest extends RequestBase {
  readonly type: 'agent.sessions';
  /** As of `agents.list`. */
  readonly after?: string;
}

export interface AgentCloseRequest extends Targeted {
  readonly type: 'agent.close';
}

export interface AgentResizeRequest extends Targeted {
  readonly type: 'agent.resize';
  readonly cols: number;
  readonly rows: number;
}

export interface AgentScreenRequest extends Targeted {
  readonly type: 'agent.screen';
}

/** Opens a view of the agent's terminal: `terminal` frames follow until it is detached. */
export interface AgentAttachRequest extends Targeted {
  readonly type: 'agent.attach';
  /** True: sees, and can't type or resize. */
  readonly readOnly?: boolean;
  /** The viewer's size, which the agent's terminal takes over from a driver. */
  readonly cols?: number;
  readonly rows?: number;
}

export interface AgentDetachRequest extends RequestBase {
  readonly type: 'agent.detach';
  readonly attachId: string;
}

/** A person's keys: held back while an input is being typed, then out whole and in order. */
export interface AgentInputRequest extends RequestBase {
  readonly type: 'agent.input';
  readonly attachId: string;
  /** Base64 of at most 16 KiB. */
  readonly data: string;
}

export interface AgentSizeRequest extends RequestBase {
  readonly type: 'agent.size';
  readonly attachId: string;
  readonly cols: number;
  readonly rows: number;
}

/** A person's word on an input in doubt, after a look at the terminal. */
export interface ReceiptResolveRequest extends Targeted {
  readonly type: 'receipt.resolve';
  readonly deliveryId: string;
  readonly outcome: 'submitted' | 'not_submitted' | 'unknown';
}

export interface ServerStatusRequest extends RequestBase {
  readonly type: 'server.status';
}

export interface DeviceAddRequest extends RequestBase {
  readonly type: 'device.add';
  readonly name: string;
}

export interface DeviceListRequest extends RequestBase {
  readonly type: 'device.list';
}

export interface DeviceRevokeRequest extends RequestBase {
  readonly type: 'device.revoke';
  readonly deviceId: string;
}

/** What only the machine's own user may ask for. */
export type LocalRequest =
  | AgentLaunchRequest
  | AgentSessionsRequest
  | AgentCloseRequest
  | AgentResizeRequest
  | AgentScreenRequest
  | AgentAttachRequest
  | AgentDetachRequest
  | AgentInputRequest
  | AgentSizeRequest
  | ReceiptResolveRequest
  | ServerStatusRequest
  | DeviceAddRequest
  | DeviceListRequest
  | DeviceRevokeRequest;
