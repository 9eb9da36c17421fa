import { closeSync, fstatSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomIds, systemClock } from '@ostler/runtime';
import { loadNodePty } from '../in-process-pty.js';
import { numberOf } from './fields.js';
import { isRecord } from './frame.js';
import { type HostLimits, hostLimits, hostVersion } from './host-limits.js';
import { openHostLog } from './host-log.js';
import { checkHostId, claimHost, ensurePrivateDir } from './host-place.js';
import { HostServer } from './host-server.js';

/** `host-main.js <dir> <hostId> [limits as JSON]`; what came of it goes to descriptor 3 as one line. */
const readyDescriptor = 3;

function tell(line: string): void {
  try {
    fstatSync(readyDescriptor);
    writeSync(readyDescriptor, `${line}\n`);
    closeSync(readyDescriptor);
  } catch (failure) {
    // Started by hand, or the starter has gone: nobody to tell.
    if (!(failure instanceof Error)) throw failure;
  }
}

function limitsFrom(text: string | undefined): HostLimits {
  const given: unknown = JSON.parse(text ?? '{}');
  if (!isRecord(given)) return hostLimits;
  const names = Object.keys(hostLimits).filter((name) => name in given);
  return {
    ...hostLimits,
    ...Object.fromEntries(names.map((name) => [name, numberOf(given, name)])),
  };
}

async function main(dir: string, hostId: string, limits: HostLimits): Promise<void> {
  process.umask(0o077);
  checkHostId(hostId);
  ensurePrivateDir(dir);
  // Now, not at the first child: by then another version may lie where this one was started.
  await loadNodePty();
  const logger = openHostLog(join(dir, `${hostId}.log`), systemClock);
  const token = randomIds.uuid() + randomIds.uuid();
  const outcome = claimHost(dir, hostId, token, hostVersion);
  if (outcome.kind === 'taken') {
    tell('taken');
    return;
  }
  // A fault in one session must not end the others.
  process.on('uncaughtException', (failure) =>
    logger.error({ failure: failure.stack ?? failure.message }, 'uncaught'),
  );
  process.on('SIGHUP', () => undefined);
  process.on('SIGINT', () => undefined);
  const server = new HostServer({
    dir,
    claim: outcome.claim,
    limits,
    clock: systemClock,
    logger,
    onDone: () => {
      logger.info({}, 'the host ends');
      // Whatever still waits in a socket is not waited for.
      setImmediate(() => process.exit(0));
    },
  });
  process.on('SIGTERM', () => void server.endAll());
  await server.listen();
  logger.info({ pid: process.pid, generation: outcome.claim.generation }, 'the host serves');
  tell('ready');
}

const [dir = '', hostId = '', limits] = process.argv.slice(2);
try {
  await main(dir, hostId, limitsFrom(limits));
} catch (failure) {
  tell(`failed ${failure instanceof Error ? failure.message : String(failure)}`);
  process.exitCode = 1;
}
