import { type Clock, type Logger, silentLogger, systemClock } from '@ostler/runtime';
import { isRecord } from './frame.js';
import { HostClient } from './host-client.js';
import { isClaimantAlive, readClaims } from './host-place.js';
import { type HostedSessionInfo, sessionOf } from './replies.js';

export interface ListedHost {
  readonly hostId: string;
  readonly pid: number;
  readonly socketPath: string;
  /** The very process that made the claim runs: pid, start time and run of the machine agree. */
  readonly alive: boolean;
}

/** The hosts of a directory: each name once, by its newest claim. */
export async function listHosts(dir: string): Promise<readonly ListedHost[]> {
  const seen = new Set<string>();
  return Promise.resolve(
    readClaims(dir).flatMap((claim) => {
      if (seen.has(claim.hostId)) return [];
      seen.add(claim.hostId);
      const { hostId, pid, socketPath } = claim;
      return [{ hostId, pid, socketPath, alive: isClaimantAlive(claim) }];
    }),
  );
}

/**
 * What a host keeps, without taking control of it from its daemon. Null when it doesn't
 * run. Throws CodedError as `connectHost`, and the system's error when it takes no
 * connection.
 */
export async function observeHost(
  dir: string,
  hostId: string,
  options: { readonly clock?: Clock; readonly logger?: Logger } = {},
): Promise<readonly HostedSessionInfo[] | null> {
  const claim = readClaims(dir, hostId).find(isClaimantAlive);
  if (!claim) return null;
  const client = await HostClient.connect({
    dir,
    socketPath: claim.socketPath,
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    onEvent: () => undefined,
    onLost: () => undefined,
  });
  try {
    await client.request({ do: 'hello', token: claim.token, observe: true });
    const { ok } = await client.request({ do: 'sessions' });
    const sessions = ok['sessions'];
    return Array.isArray(sessions) ? sessions.filter(isRecord).map(sessionOf) : [];
  } finally {
    await client.end();
  }
}
