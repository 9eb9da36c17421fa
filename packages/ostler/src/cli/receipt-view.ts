import type { Receipt, WaitUntil } from '@ostler/protocol';
import { CodedError, systemClock } from '@ostler/runtime';
import type { DaemonClient } from './daemon-client.js';
import { exitCodes } from './exit-codes.js';
import type { Output } from './output.js';

/** One request to wait may take this long; longer waits are several. */
const oneWaitMs = 60_000;
const answerSlackMs = 10_000;

export interface Waited {
  readonly receipt: Receipt;
  readonly waitEnded: 'reached' | 'timeout';
}

/** Waits up to `timeoutMs`; waiting changes nothing. */
export async function waitFor(
  client: DaemonClient,
  idempotencyKey: string,
  until: WaitUntil,
  timeoutMs: number,
): Promise<Waited> {
  const endMs = systemClock.monotonicMs() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(0, Math.round(endMs - systemClock.monotonicMs()));
    const stepMs = Math.min(leftMs, oneWaitMs);
    const fields = { idempotencyKey, until, timeoutMs: stepMs };
    const waited = await client.call('receipt.wait', fields, stepMs + answerSlackMs);
    if (waited.waitEnded === 'reached' || stepMs === leftMs) return waited;
  }
}

/** 0, or what keeps it from being 0: rejected, in doubt, or a wait that ran out. */
export function exitCodeOfReceipt(receipt: Receipt, waitEnded?: Waited['waitEnded']): number {
  if (receipt.state === 'rejected') return exitCodes.failed;
  if (receipt.state === 'unknown') {
    const goalReached = waitEnded === 'reached' && receipt.input?.phase === 'accepted';
    return goalReached ? exitCodes.done : exitCodes.inDoubt;
  }
  return waitEnded === 'timeout' ? exitCodes.timeout : exitCodes.done;
}

/** The receipt on stdout and its meaning as the exit code. */
export function showReceipt(
  output: Output,
  json: boolean,
  receipt: Receipt,
  extra: Readonly<Record<string, string>> = {},
  waitEnded?: Waited['waitEnded'],
): void {
  process.exitCode = exitCodeOfReceipt(receipt, waitEnded);
  if (json) {
    output.json({ ...extra, ...(waitEnded && { waitEnded }), receipt });
    return;
  }
  const { error, input } = receipt;
  output.lines([
    ['key', receipt.idempotencyKey],
    ['state', stateOf(receipt)],
    ...(input ? ([['input', inputOf(receipt)]] as const) : []),
    ...(error ? ([['reason', `${error.message} (${error.code})`]] as const) : []),
    ...(receipt.turnId === null ? [] : ([['turn', receipt.turnId]] as const)),
    ['delivery', receipt.deliveryId],
    ...(extra['status'] === 'duplicate'
      ? ([['note', 'the key was used before for the same request; nothing more was done']] as const)
      : []),
    ...(waitEnded === 'timeout'
      ? ([
          ['note', `still waiting; go on with: ostler receipts wait ${receipt.idempotencyKey}`],
        ] as const)
      : []),
    ...(receipt.state === 'unknown'
      ? ([['note', 'look at the terminal before anything is sent again: ostler attach']] as const)
      : []),
  ]);
}

export function stateOf(receipt: Receipt): string {
  return receipt.operation === 'turn.send'
    ? receipt.state
    : `${receipt.state} (${receipt.operation})`;
}

export function inputOf({ input }: Receipt): string {
  if (!input) return '';
  const hold = input.hold === undefined ? '' : `, held by ${input.hold}`;
  const evidence = input.evidence === undefined ? '' : `, shown by ${input.evidence}`;
  return `${input.phase} (${input.mode}${hold}${evidence})`;
}

const keyPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Throws CodedError USAGE before anything is sent. */
export function checkKey(key: string): string {
  if (keyPattern.test(key)) return key;
  throw new CodedError('USAGE', 'a key is 1 to 64 of A-Z, a-z, 0-9, _ and -; give another one');
}
