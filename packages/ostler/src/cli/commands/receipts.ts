import type { Receipt, WaitUntil } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import { type Command, Option } from 'commander';
import { findAgent } from '../find-agent.js';
import { timeoutOption, waits } from '../mutation-options.js';
import { type DaemonFlags, examples, wholeNumber, withDaemonOptions } from '../option-values.js';
import { checkKey, inputOf, showReceipt, stateOf, waitFor } from '../receipt-view.js';
import { printTable, type Row } from '../table.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

interface ListFlags extends DaemonFlags {
  readonly unresolved?: boolean;
  readonly agent?: string;
  readonly limit: number;
}

const outcomes = ['submitted', 'not_submitted', 'unknown'] as const;
type Outcome = (typeof outcomes)[number];

export function addReceipts(ostler: Command): void {
  const receipts = ostler
    .command('receipts')
    .description('what became of what was sent')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      examples(
        'ostler receipts list --unresolved',
        'ostler receipts wait issue-42 --until settled --timeout 600',
        'ostler receipts resolve issue-42 --outcome not_submitted',
      ),
    );
  withDaemonOptions(
    receipts
      .command('list', { isDefault: true })
      .description('the newest first')
      .option('--unresolved', 'only those that are not settled')
      .option('--agent <name>', 'only those of one running agent')
      .option('--limit <n>', 'at most so many', wholeNumber(1, 512), 50),
  )
    .addHelpText('after', examples('ostler receipts list --agent work --limit 10'))
    .action((flags: ListFlags) => withDaemon(flags, (run) => list(run, flags)));
  withDaemonOptions(receipts.command('get').description('one, as it is').argument('<key>'))
    .addHelpText('after', examples('ostler receipts get issue-42 --json'))
    .action((key: string, flags: DaemonFlags) =>
      withDaemon(flags, async ({ client, json, output }) =>
        showReceipt(output, json, await get({ client }, key)),
      ),
    );
  withDaemonOptions(
    receipts
      .command('wait')
      .description('wait for one; waiting changes nothing')
      .argument('<key>')
      .addOption(new Option('--until <until>', 'what for').choices(waits).default('settled'))
      .addOption(timeoutOption()),
  )
    .addHelpText('after', examples('ostler receipts wait issue-42 --until started --timeout 30'))
    .action((key: string, flags: DaemonFlags & { until: WaitUntil; timeout: number }) =>
      withDaemon(flags, async ({ client, json, output }) => {
        const waited = await waitFor(client, checkKey(key), flags.until, flags.timeout);
        showReceipt(output, json, waited.receipt, {}, waited.waitEnded);
      }),
    );
  withDaemonOptions(
    receipts
      .command('resolve')
      .description('your word on one in doubt, after a look at the terminal')
      .argument('<key>')
      .addOption(
        new Option('--outcome <outcome>', 'what you saw').choices(outcomes).makeOptionMandatory(),
      ),
  )
    .addHelpText('after', examples('ostler receipts resolve issue-42 --outcome submitted'))
    .action((key: string, flags: DaemonFlags & { outcome: Outcome }) =>
      withDaemon(flags, async ({ client, json, output }) => {
        const { agentId, deliveryId, machineId } = await get({ client }, key);
        const { outcome } = flags;
        await client.call('receipt.resolve', { machineId, agentId, deliveryId, outcome });
        showReceipt(output, json, await get({ client }, key));
        process.exitCode = 0;
      }),
    );
}

async function get({ client }: Pick<DaemonRun, 'client'>, key: string): Promise<Receipt> {
  const { receipt } = await client.call('receipt.get', { idempotencyKey: checkKey(key) });
  if (receipt) return receipt;
  throw new CodedError(
    'RECEIPT_NOT_FOUND',
    `no receipt of ${key} is kept; that proves nothing, since settled ones leave after a while`,
  );
}

async function list({ client, json, output }: DaemonRun, flags: ListFlags): Promise<void> {
  const agent = flags.agent === undefined ? null : await findAgent(client, flags.agent);
  const { receipts } = await client.call('receipts.list', {
    state: flags.unresolved ? 'unresolved' : 'all',
    limit: flags.limit,
    ...(agent && { agentId: agent.agentId }),
  });
  if (json) output.json({ receipts });
  else if (receipts.length === 0) output.text('no receipts');
  else printTable(output, ['key', 'state', 'input', 'changed', 'reason'], receipts.map(rowOf));
}

function rowOf(receipt: Receipt): Row {
  const changed = new Date(receipt.at).toISOString();
  const { error, idempotencyKey } = receipt;
  return [idempotencyKey, stateOf(receipt), inputOf(receipt) || '–', changed, error?.code ?? ''];
}
