import type { QuestionAnswerRequest } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { AgentSession } from '../agent-session.js';
import { claimThen } from './claim.js';
import {
  type Keyboard,
  type KeyboardOutcome,
  pressWhole,
  useKeyboard,
} from './keyboard-operation.js';
import type { OperationContext, Reserved } from './operation.js';

/** Answers an open question, never a permission. Throws CodedError QUESTION_STALE before anything is claimed. */
export function questionAnswer(
  context: OperationContext,
  request: QuestionAnswerRequest,
): Reserved {
  return claimThen(context, request, {
    check: (agent) => {
      if (agent.openQuestion?.requestId === request.questionRequestId) return;
      throw new CodedError('QUESTION_STALE', 'this question is no longer open; nothing was typed');
    },
    dispatch: (agent, { receipt }) =>
      useKeyboard(context, agent, receipt, (keyboard) =>
        typeAnswer(context, agent, request, keyboard),
      ),
  });
}

async function typeAnswer(
  context: OperationContext,
  agent: AgentSession,
  request: QuestionAnswerRequest,
  { pen, begin }: Keyboard,
): Promise<KeyboardOutcome> {
  const { reading } = await pen.look();
  const tracked = agent.openQuestion;
  if (
    tracked?.requestId !== request.questionRequestId ||
    reading.question?.fingerprint !== tracked.question.fingerprint
  ) {
    return {
      kind: 'refused',
      code: 'question_closed',
      message: 'the question closed before the keyboard was free; nothing was typed',
    };
  }
  const plan = agent.reader.planAnswer(tracked.question, request.answers);
  if (plan.kind === 'refused') {
    return { kind: 'refused', code: plan.reason, message: plan.message };
  }
  begin();
  for (const step of plan.steps) {
    await pressWhole(pen, step.keys);
    if (!(await pen.lookUntil(step.settled, context.stepMs))) {
      return {
        kind: 'in_doubt',
        message: 'the dialog did not show the answer in time; look at the terminal',
      };
    }
  }
  return { kind: 'carried_out' };
}
