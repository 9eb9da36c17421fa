import type { DeviceSummary } from '@ostler/protocol';
import type { Command } from 'commander';
import { type DaemonFlags, examples, withDaemonOptions } from '../option-values.js';
import { printTable, type Row } from '../table.js';
import { withDaemon } from '../with-daemon.js';

export function addDevice(ostler: Command): void {
  const device = ostler
    .command('device')
    .description('let other devices in, and shut them out')
    .addHelpText('after', examples('ostler device add phone', 'ostler device list'));
  withDaemonOptions(
    device.command('add').description('make a token, shown this once').argument('<device-name>'),
  )
    .addHelpText('after', examples('ostler device add phone', 'ostler device add ci --json'))
    .action((name: string, flags: DaemonFlags) =>
      withDaemon(flags, async ({ client, json, output }) => {
        const added = await client.call('device.add', { name });
        if (json) output.json(added);
        else {
          output.lines([
            ['device', added.deviceId],
            ['token', added.token],
            ['', 'The token is shown this once; only its hash is kept.'],
          ]);
        }
      }),
    );
  withDaemonOptions(device.command('list').description('all devices, the revoked ones included'))
    .addHelpText('after', examples('ostler device list --json'))
    .action((flags: DaemonFlags) =>
      withDaemon(flags, async ({ client, json, output }) => {
        const listed = await client.call('device.list', {});
        if (json) output.json(listed);
        else if (listed.devices.length === 0) output.text('no device; ostler device add NAME');
        else
          printTable(output, ['name', 'last seen', 'state', 'device'], listed.devices.map(rowOf));
      }),
    );
  withDaemonOptions(
    device
      .command('revoke')
      .description('end its token and its connections')
      .argument('<device-id>', 'as `ostler device list` shows it'),
  )
    .addHelpText('after', examples('ostler device revoke DEVICE_ID'))
    .action((deviceId: string, flags: DaemonFlags) =>
      withDaemon(flags, async ({ client, json, output }) => {
        await client.call('device.revoke', { deviceId });
        if (json) output.json({ revoked: deviceId });
        else output.text(`${deviceId} is revoked`);
      }),
    );
}

function rowOf({ deviceId, lastSeenMs, name, revoked }: DeviceSummary): Row {
  const seen = lastSeenMs === null ? 'never' : new Date(lastSeenMs).toISOString();
  return [name, seen, revoked ? 'revoked' : 'paired', deviceId];
}
