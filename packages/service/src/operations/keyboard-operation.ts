import type { ControlPen } from '@ostler/controller';
import type { Receipt, ReceiptChange } from '@ostler/protocol';
import { CodedError, isCoded } from '@ostler/runtime';
import type { AgentSession } from '../agent-session.js';
import type { OperationContext } from './operation.js';

/** What a use of the keyboard found: refused before any key, carried out, or cut off in between. */
export type KeyboardOutcome =
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'carried_out' }
  | { readonly kind: 'in_doubt'; readonly message: string };

export interface Keyboard {
  readonly pen: ControlPen;
  /** Call before the first key: it makes the dispatch durable. Throws where it can't. */
  readonly begin: () => void;
}

/**
 * Starts one explicit use of an agent's keyboard under the control right and keeps its
 * receipt: rejected while no key was pressed, unknown when one was and its effect
 * could not be seen, delivered when it was seen.
 */
export function useKeyboard(
  context: OperationContext,
  agent: AgentSession,
  receipt: Receipt,
  use: (keyboard: Keyboard) => Promise<KeyboardOutcome>,
): void {
  void runUnderControl(context, agent, receipt, use);
}

async function runUnderControl(
  context: OperationContext,
  agent: AgentSession,
  receipt: Receipt,
  use: (keyboard: Keyboard) => Promise<KeyboardOutcome>,
): Promise<void> {
  const { clock, ledger, logger } = context;
  const { deliveryId } = receipt;
  let begun = false;
  const begin = (): void => {
    ledger.markDispatch({
      deliveryId,
      fingerprint: null,
      atMs: clock.nowMs(),
      ...agent.terminal.identity,
    });
    begun = true;
  };
  try {
    const outcome = await agent.controller.withControl((pen) => use({ pen, begin }));
    ledger.change(deliveryId, changeFor(outcome));
    // Its turn may have ended while its effect was looked for.
    agent.settleKeys();
  } catch (failure) {
    logger.warn({ deliveryId, failure }, 'a use of the keyboard failed');
    const message = failure instanceof Error ? failure.message : String(failure);
    const code = isCoded(failure) ? failure.code : 'INTERNAL';
    ledger.change(
      deliveryId,
      begun
        ? changeFor({ kind: 'in_doubt', message })
        : { state: 'rejected', error: { code, message } },
    );
  }
}

function changeFor(outcome: KeyboardOutcome): ReceiptChange {
  switch (outcome.kind) {
    case 'refused':
      return { state: 'rejected', error: { code: outcome.code, message: outcome.message } };
    case 'carried_out':
      return { state: 'delivered' };
    case 'in_doubt':
      return {
        state: 'unknown',
        error: { code: 'dispatch_ambiguous', message: outcome.message },
      };
  }
}

/** Writes keys whole or throws: what follows must not build on half of them. */
export async function pressWhole(pen: ControlPen, keys: string): Promise<void> {
  const outcome = await pen.press(keys);
  if (outcome.kind !== 'carried_out') {
    throw new CodedError('PRESS_FAILED', `the terminal did not take the keys: ${outcome.reason}`);
  }
}
