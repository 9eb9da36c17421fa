import type { EventPayloads, OstlerEvent, Receipt } from '@ostler/protocol';

type AgentEvents = {
  readonly [Kind in Exclude<
    keyof EventPayloads,
    'receipt.updated' | 'agents.changed' | 'focus.changed'
  >]: EventPayloads[Kind] & {
    readonly agentId: string;
  };
};

/** What a service tells, by kind. Each is committed before it is told. */
export interface ServiceEvents extends AgentEvents {
  readonly 'receipt.updated': { readonly receipt: Receipt };
  readonly 'agents.changed': EventPayloads['agents.changed'];
  readonly 'focus.changed': EventPayloads['focus.changed'];
  /** Every event as it crosses a process edge, with the one device that may see it (null: all). */
  readonly event: { readonly event: OstlerEvent; readonly deviceId: string | null };
}
