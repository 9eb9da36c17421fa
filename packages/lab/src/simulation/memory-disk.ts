import { applyToReceipt, phaseRank, type Receipt, type ReceiptChange } from '@ostler/protocol';
import type { Ids } from '@ostler/runtime';
import type { ConsumedInput, DispatchMark, StepRecord, StoredEvent } from '@ostler/store';

/** A receipt with what the store knows beside it. */
export interface Row {
  receipt: Receipt;
  readonly ordinal: number;
  readonly deviceId: string;
  readonly intentDigest: string;
  readonly textBytes: number | null;
  dispatch: DispatchMark | null;
  readonly steps: StepRecord[];
  leftEarly: boolean;
}

/** What outlives a process: the rows, in the order of their making. */
export class MemoryDisk {
  readonly machineId: string;
  readonly rows: Map<string, Row> = new Map();
  readonly deliveryByKey: Map<string, string> = new Map();
  readonly events: StoredEvent[] = [];
  readonly results: { readonly stored: StoredEvent; readonly atMs: number }[] = [];
  readonly consumed: ConsumedInput[] = [];
  readonly endedTurns: Set<string> = new Set();
  readonly settings: Map<string, string> = new Map();
  readonly instances: { readonly id: string; readonly lastEventBefore: number }[] = [];
  newestOrdinal = 0;
  newestEventId = 0;
  newestFirstEventId = 0;

  constructor(ids: Ids) {
    this.machineId = ids.uuid();
  }
}

export const isSameEntry = (one: ConsumedInput, other: ConsumedInput): boolean =>
  one.agentId === other.agentId && one.inputRef === other.inputRef;

/** As the real store settles what an earlier process left in flight. */
export function afterRestart(row: Row, atMs: number): Receipt {
  const { input, state } = row.receipt;
  const waiting = input === undefined || phaseRank(input.phase) === 0;
  const change: ReceiptChange =
    row.dispatch === null && state === 'queued' && waiting
      ? {
          state: 'rejected',
          error: {
            code: 'DAEMON_RESTART',
            message: 'the server was restarted before anything was written; send it again',
          },
        }
      : {
          state: 'unknown',
          error: {
            code: 'DAEMON_RESTART',
            message: 'the server was restarted after the dispatch; later evidence may settle it',
          },
          ...(input === undefined || input.phase === 'accepted'
            ? {}
            : { input: { phase: 'unconfirmed' } }),
        };
  const result = applyToReceipt(row.receipt, change, atMs);
  return result.kind === 'applied' ? result.receipt : row.receipt;
}
