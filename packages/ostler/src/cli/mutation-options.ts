import type { WaitUntil } from '@ostler/protocol';
import { CodedError, isCoded, randomIds } from '@ostler/runtime';
import { type Command, Option } from 'commander';
import { type DaemonFlags, secondsAsMs, withDaemonOptions } from './option-values.js';
import { checkKey, showReceipt, waitFor } from './receipt-view.js';
import type { DaemonRun } from './with-daemon.js';
import type { ResultOf } from '@ostler/protocol';

export const longestWaitSeconds = 86_400;
export const waits: readonly WaitUntil[] = ['accepted', 'started', 'settled'];

export interface MutationFlags extends DaemonFlags {
  readonly key?: string;
  readonly wait?: WaitUntil;
  readonly timeout: number;
}

/** What `send`, `answer` and `stop` share. */
export function withMutationOptions(command: Command): Command {
  return withDaemonOptions(command)
    .option('--key <key>', 'idempotency key: the same with the same request is the same delivery')
    .addOption(new Option('--wait <until>', 'then wait for it').choices(waits))
    .addOption(timeoutOption());
}

export function timeoutOption(): Option {
  return new Option('--timeout <seconds>', 'how long to wait')
    .argParser(secondsAsMs(longestWaitSeconds))
    .default(60_000, '60');
}

/** Makes the request under the user's key or a fresh one, waits where asked to, and shows the receipt. */
export async function mutate(
  { client, json, output }: DaemonRun,
  flags: MutationFlags,
  request: (idempotencyKey: string) => Promise<ResultOf<'turn.send'>>,
): Promise<void> {
  const key = checkKey(flags.key ?? randomIds.uuid());
  const { receipt, status } = await inDoubt(request(key), key);
  if (flags.wait === undefined) {
    showReceipt(output, json, receipt, { status });
    return;
  }
  const waited = await inDoubt(waitFor(client, key, flags.wait, flags.timeout), key);
  showReceipt(output, json, waited.receipt, { status }, waited.waitEnded);
}

/** Without an answer nobody knows here what became of the request; its key can tell, later. */
async function inDoubt<Value>(answer: Promise<Value>, key: string): Promise<Value> {
  try {
    return await answer;
  } catch (failure) {
    if (!isCoded(failure, 'DAEMON_GONE', 'TIMEOUT')) throw failure;
    throw new CodedError(
      'IN_DOUBT',
      `no answer came (${failure.message}), so it is not known whether it was taken; ask before anything is sent again: ostler receipts get ${key}`,
      { cause: failure },
    );
  }
}
