import { type Clock, CodedError } from '@ostler/runtime';
import type { Agent } from '../agent.js';
import type { Ostler } from '../create-ostler.js';
import type { DemoAgent } from './demo-agent.js';
import type { ReceiptLog } from './receipt-log.js';
import { type DemoPart, demoKey, demoParts, demoTexts, type Pace } from './scenario.js';

export interface Conducted {
  readonly ostler: Ostler;
  readonly agent: Agent;
  readonly demoAgent: DemoAgent;
  readonly log: ReceiptLog;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  /** Tells what happens next, for people; null: that was all. */
  readonly onStep: (text: string | null) => Promise<void>;
}

const stepLimitMs = 30_000;

/**
 * Plays the demo: A; B and C while it runs; D behind a dialog; the end.
 * Throws CodedError DEMO_STUCK where a step takes too long.
 */
export async function conduct(demo: Conducted): Promise<void> {
  const { demoAgent, onStep } = demo;
  await onStep('A long task is sent.');
  await send(demo, 'a');
  await reach(demo, 'a', 'started');
  await pause(demo, 1);
  await onStep('Two more texts, while it runs.');
  await send(demo, 'b');
  await send(demo, 'c');
  await reach(demo, 'b', 'accepted');
  await reach(demo, 'c', 'accepted');
  await pause(demo, 1);
  await onStep('The agent comes to a boundary and takes them.');
  await demoAgent.boundary();
  await reach(demo, 'b', 'started');
  await reach(demo, 'c', 'started');
  await pause(demo, 1);
  await onStep('A permission dialog opens. A fourth text waits behind it.');
  const opened = held(demo, true);
  await demoAgent.openDialog();
  await opened;
  await send(demo, 'd');
  await waitMs(demo, Math.max(demo.pace.stepMs * 1.5, demoAgent.personMs));
  await onStep('The person closes the dialog.');
  const closed = held(demo, false);
  await demoAgent.closeDialog((keys) => demo.agent.personInput(keys));
  await closed;
  await reach(demo, 'd', 'accepted');
  await pause(demo, 1);
  await onStep('The task ends.');
  await demoAgent.finish();
  for (const part of demoParts) await reach(demo, part, 'settled');
  await pause(demo, 0.5);
  await onStep(null);
}

async function send({ agent, log, ostler, signal }: Conducted, part: DemoPart): Promise<void> {
  const key = demoKey(part);
  const text = demoTexts[part];
  log.sending(key, text);
  const { agentId } = agent;
  const { receipt } = await ostler.turnSend({ agentId, idempotencyKey: key, text, signal });
  log.note(receipt);
}

/** Waits for a receipt, but not for ever. */
async function reach(
  { ostler, signal }: Conducted,
  part: DemoPart,
  until: 'accepted' | 'started' | 'settled',
): Promise<void> {
  const key = demoKey(part);
  const { waitEnded } = await ostler.receiptWait(key, { until, timeoutMs: stepLimitMs, signal });
  if (waitEnded === 'timeout') throw stuck(`${key} was not ${until}`);
}

/** Resolves once the agent's screen has been seen with a dialog on it, or without one. */
async function held({ agent, clock, ostler, signal }: Conducted, wanted: boolean): Promise<void> {
  const isSo = (): boolean => (agent.status().hold !== undefined) === wanted;
  if (isSo()) return;
  await new Promise<void>((resolve, reject) => {
    const end = (settle: () => void): void => {
      subscription[Symbol.dispose]();
      limit[Symbol.dispose]();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(signal.reason as Error));
    const subscription = ostler.on('agents.changed', () => {
      if (isSo()) end(resolve);
    });
    const limit = clock.setTimer(stepLimitMs, () =>
      end(() => reject(stuck(wanted ? 'no dialog opened' : 'the dialog was not closed'))),
    );
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function stuck(what: string): CodedError<'DEMO_STUCK'> {
  return new CodedError('DEMO_STUCK', `${what} within ${stepLimitMs / 1_000} seconds`);
}

async function pause(demo: Conducted, steps: number): Promise<void> {
  await waitMs(demo, demo.pace.stepMs * steps);
}

async function waitMs({ clock, signal }: Conducted, durationMs: number): Promise<void> {
  signal.throwIfAborted();
  if (durationMs === 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = clock.setTimer(durationMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      timer[Symbol.dispose]();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
