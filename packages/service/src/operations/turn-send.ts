import { type TurnSendRequest, utf8Bytes } from '@ostler/protocol';
import { claimThen } from './claim.js';
import type { OperationContext, Reserved } from './operation.js';

/**
 * Reserves the key durably, then hands the text to the agent's controller. The answer
 * says that the request was taken, never that the agent took it.
 */
export function turnSend(context: OperationContext, request: TurnSendRequest): Reserved {
  return claimThen(context, request, {
    details: (agent) => ({
      textBytes: utf8Bytes(request.text),
      input: {
        mode: agent.reading.busy ? agent.reader.busyMode : 'direct',
        phase: 'waiting_for_writer',
      },
    }),
    dispatch: (agent, { receipt: { deliveryId } }) => {
      const verdict = agent.controller.submit(deliveryId, request.text);
      if (verdict.kind === 'refused') {
        context.ledger.change(deliveryId, {
          state: 'rejected',
          error: { code: verdict.reason, message: verdict.message },
        });
      }
    },
  });
}
