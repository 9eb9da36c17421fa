import { statfsSync, statSync } from 'node:fs';
import { isCoded } from '@ostler/runtime';
import { DaemonClient } from '../daemon-client.js';
import { version } from '../version.js';
import { engineFindings } from './engines.js';
import { type Finding, messageOf } from './finding.js';
import { hostFindings } from './hosts.js';
import { nativeFindings } from './native-modules.js';

const oldestNode = 20;
const lowDiskBytes = 256 * 1024 * 1024;

/** Looks only: nothing is made, mended or taken over. */
export async function findings(
  stateDir: string,
  engineModules: readonly string[],
): Promise<readonly Finding[]> {
  const daemon = await daemonFinding(stateDir);
  return [
    nodeFinding(),
    ...(await nativeFindings()),
    directoryFinding(stateDir),
    diskFinding(stateDir),
    daemon.finding,
    ...(await hostFindings(stateDir, daemon.hostPids)),
    ...(await engineFindings(engineModules)),
  ];
}

function nodeFinding(): Finding {
  const saw = process.versions.node;
  if (Number(saw.split('.')[0]) >= oldestNode) return { what: 'Node', level: 'ok', saw };
  return { what: 'Node', level: 'fault', saw, todo: `install Node ${oldestNode} or newer` };
}

function directoryFinding(stateDir: string): Finding {
  const what = 'state directory';
  const stats = statSync(stateDir, { throwIfNoEntry: false });
  if (!stats) {
    return { what, level: 'note', saw: `${stateDir} is not there`, todo: 'ostler up makes it' };
  }
  const mode = (stats.mode & 0o777).toString(8);
  const own = process.getuid === undefined || stats.uid === process.getuid();
  if (stats.isDirectory() && own && (stats.mode & 0o077) === 0) {
    return { what, level: 'ok', saw: `${stateDir}, mode ${mode}` };
  }
  const saw = own ? `${stateDir} has mode ${mode}` : `${stateDir} belongs to user ${stats.uid}`;
  const todo = own ? `chmod 700 ${stateDir}` : 'choose a directory of your own with --state-dir';
  return { what, level: 'fault', saw, todo };
}

function diskFinding(stateDir: string): Finding {
  const what = 'disk';
  try {
    const { bavail, bsize } = statfsSync(nearestDirectory(stateDir));
    const saw = `${Math.floor((bavail * bsize) / 1_048_576)} MiB free`;
    if (bavail * bsize >= lowDiskBytes) return { what, level: 'ok', saw };
    return { what, level: 'fault', saw, todo: `free some: receipts need room in ${stateDir}` };
  } catch (failure) {
    return {
      what,
      level: 'note',
      saw: messageOf(failure),
      todo: 'look at the free space yourself',
    };
  }
}

function nearestDirectory(path: string): string {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
    if (at === '/' || statSync(at, { throwIfNoEntry: false })) return at;
  }
}

async function daemonFinding(
  stateDir: string,
): Promise<{ readonly finding: Finding; readonly hostPids: readonly number[] | null }> {
  const what = 'daemon';
  try {
    await using client = await DaemonClient.connect(stateDir);
    const status = await client.call('server.status', {});
    const saw = `${status.version}, process ${status.pid}, ${status.agents} agents`;
    const hostPids = status.hosts.map(({ pid }) => pid);
    if (status.version === version) return { finding: { what, level: 'ok', saw }, hostPids };
    const todo = `this command is ${version}: ostler down, then ostler up`;
    return { finding: { what, level: 'note', saw, todo }, hostPids };
  } catch (failure) {
    if (isCoded(failure, 'DAEMON_NOT_RUNNING')) {
      const finding = { what, level: 'note', saw: 'none runs', todo: 'ostler up' } as const;
      return { finding, hostPids: null };
    }
    const saw = messageOf(failure);
    const todo = 'end its process and start it again: ostler up';
    return { finding: { what, level: 'fault', saw, todo }, hostPids: null };
  }
}
