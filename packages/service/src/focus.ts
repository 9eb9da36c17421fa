import type { FocusState } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { ReceiptStore } from '@ostler/store';
import type { ReceiptsLedger } from './receipts-ledger.js';

interface Kept {
  readonly agentId: string | null;
  readonly revision: number;
}

const settingName = 'focus';

/** The one agent people mean when they name none. Its revision only rises, across restarts too. */
export class Focus {
  readonly #store: ReceiptStore;
  readonly #ledger: ReceiptsLedger;
  #kept: Kept;

  constructor(store: ReceiptStore, ledger: ReceiptsLedger) {
    this.#store = store;
    this.#ledger = ledger;
    this.#kept = keptIn(store.setting(settingName));
  }

  get state(): FocusState {
    const { agentId, revision } = this.#kept;
    const { machineId } = this.#store;
    return { focus: agentId === null ? null : { machineId, agentId }, focusRevision: revision };
  }

  /** Moves the focus and tells it; the same again changes nothing. */
  set(agentId: string | null): FocusState {
    if (agentId !== this.#kept.agentId) {
      const next: Kept = { agentId, revision: this.#kept.revision + 1 };
      this.#store.setSetting(settingName, JSON.stringify(next));
      this.#kept = next;
      this.#ledger.announce('focus.changed', null, { ...this.state });
    }
    return this.state;
  }

  /** Throws CodedError FOCUS_UNAVAILABLE, FOCUS_CHANGED where a request was meant for an earlier focus. */
  guard(agentId: string, focusRevision: number | undefined): void {
    if (focusRevision === undefined) return;
    const { agentId: focused, revision } = this.#kept;
    if (focused === null) {
      throw new CodedError('FOCUS_UNAVAILABLE', 'no agent has the focus; set it first');
    }
    if (revision !== focusRevision || focused !== agentId) {
      throw new CodedError(
        'FOCUS_CHANGED',
        `the focus is at revision ${revision} now; ask focus.get and decide again`,
      );
    }
  }
}

function keptIn(value: string | null): Kept {
  if (value === null) return { agentId: null, revision: 0 };
  const kept = JSON.parse(value) as Partial<Kept>;
  return {
    agentId: typeof kept.agentId === 'string' ? kept.agentId : null,
    revision: typeof kept.revision === 'number' ? kept.revision : 0,
  };
}
