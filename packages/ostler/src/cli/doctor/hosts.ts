import { statSync } from 'node:fs';
import { join } from 'node:path';
import { listHosts, observeHost } from '@ostler/terminal';
import { type Finding, messageOf } from './finding.js';

/** The hosts of a state directory, those included that no daemon controls. */
export async function hostFindings(
  stateDir: string,
  controlled: readonly number[] | null,
): Promise<readonly Finding[]> {
  const dir = join(stateDir, 'hosts');
  if (!statSync(dir, { throwIfNoEntry: false })) {
    return [{ what: 'hosts', level: 'ok', saw: 'none' }];
  }
  const hosts = await listHosts(dir);
  if (hosts.length === 0) return [{ what: 'hosts', level: 'ok', saw: 'none' }];
  return await Promise.all(
    hosts.map(async ({ alive, hostId, pid }): Promise<Finding> => {
      const what = `host ${hostId}`;
      if (!alive) {
        const todo = 'nothing: its agents ended with it, and the next ostler up clears it away';
        return { what, level: 'note', saw: `process ${pid} has gone`, todo };
      }
      try {
        const sessions = await observeHost(dir, hostId);
        const living = (sessions ?? []).filter(({ exit }) => exit === null).length;
        const saw = `process ${pid}, ${living} agents`;
        if (controlled?.includes(pid)) return { what, level: 'ok', saw };
        const todo =
          controlled === null
            ? 'ostler up takes them over'
            : `the daemon does not control it: ostler down, then ostler up, or end process ${pid}`;
        return { what, level: 'note', saw: `${saw}, without a daemon`, todo };
      } catch (failure) {
        const todo = `it takes no connection; end process ${pid} if its agents are not needed`;
        return { what, level: 'fault', saw: messageOf(failure), todo };
      }
    }),
  );
}
