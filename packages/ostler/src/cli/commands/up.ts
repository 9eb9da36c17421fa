import type { DaemonOptions } from '@ostler/daemon';
import { CodedError, systemClock } from '@ostler/runtime';
import { type Command, Option } from 'commander';
import { builtInEngines } from '../../built-in-engines.js';
import { joinEngines, loadEngineModule } from '../engine-module.js';
import { exitCodes } from '../exit-codes.js';
import { type LogLevel, logLevels, openLog } from '../log.js';
import {
  collected,
  examples,
  hostAndPort,
  jsonOption,
  stateDirOption,
  wholeNumber,
} from '../option-values.js';
import { stateDirOf } from '../state-dir.js';
import { Stopping } from '../stopping.js';
import { version } from '../version.js';

interface UpFlags {
  readonly stateDir?: string;
  readonly listen?: { readonly host: string; readonly port: number };
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly rateBurst?: number;
  readonly ratePerSecond?: number;
  readonly maxInFlight?: number;
  readonly maxAgents?: number;
  readonly maxReceipts?: number;
  readonly hosts: boolean;
  readonly engineModule?: readonly string[];
  readonly logLevel: LogLevel;
  readonly drainMs: number;
  readonly json?: boolean;
}

const most = 1_000_000;
/** What is left running after a release takes no longer than this. */
const releaseWithinMs = 10_000;

export function addUp(ostler: Command): void {
  const count = wholeNumber(1, most);
  ostler
    .command('up')
    .description('run the daemon in the foreground; agents outlive it in their hosts')
    .addOption(stateDirOption())
    .addOption(
      new Option('--listen <host:port>', 'serve WebSocket too; port 0 takes a free one').argParser(
        hostAndPort,
      ),
    )
    .option('--tls-cert <file>', 'PEM certificate; needed to listen beyond loopback')
    .option('--tls-key <file>', 'PEM key of that certificate')
    .option(
      '--allow-host <host:port>',
      'a Host header to take beside its own; repeatable',
      collected,
    )
    .option(
      '--allow-origin <origin>',
      'a web origin whose pages may connect; repeatable',
      collected,
    )
    .option('--rate-burst <n>', 'requests at once, for the local device', count)
    .option('--rate-per-second <n>', 'requests regained a second, for the local device', count)
    .option('--max-in-flight <n>', 'unanswered requests, for the local device', count)
    .option('--max-agents <n>', 'agents that may run at a time', count)
    .option('--max-receipts <n>', 'kept of one device at a time; 512 where left out', count)
    .option('--no-hosts', 'agents live in this process and end with it')
    .option('--engine-module <file>', 'an ES module that exports `engines`; repeatable', collected)
    .addOption(
      new Option('--log-level <level>', 'of the JSON lines on stderr')
        .choices(logLevels)
        .default('info'),
    )
    .option(
      '--drain-ms <n>',
      'how long a stop waits for what is being typed',
      wholeNumber(0, 600_000),
      10_000,
    )
    .addOption(jsonOption('one ready line: {ready, socket, listen, serverInstanceId}'))
    .addHelpText(
      'after',
      `${examples(
        'ostler up',
        'ostler up --listen 127.0.0.1:7411 --json',
        'ostler up --listen 0.0.0.0:7411 --tls-cert cert.pem --tls-key key.pem',
      )}\n\nSIGTERM or Ctrl-C: drains, then ends; agents live on. A second one: at once.`,
    )
    .action(up);
}

async function up(flags: UpFlags): Promise<void> {
  const { drainMs, json = false, logLevel } = flags;
  const options = await daemonOptions(flags);
  const { Daemon } = await import('@ostler/daemon');
  using stopping = new Stopping();
  const daemon = await Daemon.start({ ...options, logger: openLog(logLevel) });
  const { listenAddress, serverInstanceId, socketPath } = daemon;
  if (json) {
    const line = { ready: true, socket: socketPath, listen: listenAddress, serverInstanceId };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } else {
    process.stdout.write(
      `ostler ${version} serves ${options.stateDir}` +
        `${listenAddress === null ? '' : ` and ${listenAddress}`}; Ctrl-C stops it` +
        `${flags.hosts ? ', agents live on' : ' and its agents'}\n`,
    );
  }
  await stopping.asked;
  if (!json) process.stdout.write('draining; once more to stop at once\n');
  await Promise.race([daemon.drain(drainMs), stopping.askedAgain]);
  systemClock.setTimer(releaseWithinMs, () => process.exit(exitCodes.failed));
  await daemon.release();
}

async function daemonOptions(flags: UpFlags): Promise<DaemonOptions> {
  const { listen, maxAgents, maxInFlight, maxReceipts, rateBurst, ratePerSecond, tlsCert, tlsKey } =
    flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new CodedError('USAGE', '--tls-cert and --tls-key go together; give both');
  }
  if (listen === undefined && (tlsCert ?? flags.allowHost ?? flags.allowOrigin) !== undefined) {
    throw new CodedError('USAGE', 'TLS, hosts and origins are for WebSocket; give --listen too');
  }
  const modules = await Promise.all((flags.engineModule ?? []).map(loadEngineModule));
  return {
    stateDir: stateDirOf(flags.stateDir),
    engines: joinEngines(builtInEngines, modules.flat()),
    version,
    hosted: flags.hosts,
    limits: { drainMs: flags.drainMs },
    localLimits: {
      ...(rateBurst !== undefined && { rateBurst }),
      ...(ratePerSecond !== undefined && { ratePerSecond }),
      ...(maxInFlight !== undefined && { maxInFlight }),
    },
    ...(maxAgents !== undefined && { maxAgents }),
    ...(maxReceipts !== undefined && { maxReceiptsPerDevice: maxReceipts }),
    ...(listen !== undefined && {
      listen: {
        ...listen,
        ...(tlsCert !== undefined &&
          tlsKey !== undefined && { tls: { certPath: tlsCert, keyPath: tlsKey } }),
        allowHosts: flags.allowHost ?? [],
        allowOrigins: flags.allowOrigin ?? [],
      },
    }),
  };
}
