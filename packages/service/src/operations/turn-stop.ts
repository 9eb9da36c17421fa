import type { TurnStopRequest } from '@ostler/protocol';
import type { AgentSession } from '../agent-session.js';
import { claimThen } from './claim.js';
import {
  type Keyboard,
  type KeyboardOutcome,
  pressWhole,
  useKeyboard,
} from './keyboard-operation.js';
import type { OperationContext, Reserved } from './operation.js';

/** Interrupts the running turn, by the engine's own key and only while it shows that it is at work. */
export function turnStop(context: OperationContext, request: TurnStopRequest): Reserved {
  return claimThen(context, request, {
    dispatch: (agent, { receipt }) =>
      useKeyboard(context, agent, receipt, (keyboard) => pressStop(context, agent, keyboard)),
  });
}

async function pressStop(
  context: OperationContext,
  agent: AgentSession,
  { pen, begin }: Keyboard,
): Promise<KeyboardOutcome> {
  const { reading } = await pen.look();
  const keys = agent.reader.stopKeys(reading);
  if (keys === null) {
    return {
      kind: 'refused',
      code: reading.hold ?? 'not_busy',
      message: 'the agent shows no running turn that may be stopped now; nothing was typed',
    };
  }
  begin();
  await pressWhole(pen, keys);
  const stopped = await pen.lookUntil((after) => after.readable && !after.busy, context.stepMs);
  return stopped
    ? { kind: 'carried_out' }
    : { kind: 'in_doubt', message: 'the agent still shows that it is at work' };
}
