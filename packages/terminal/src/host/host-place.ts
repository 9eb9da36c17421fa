import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '@ostler/runtime';
import { identifyProcess, isSameProcess } from '../process-identity.js';
import { booleanOf, numberOf, textOf, textOrNull } from './fields.js';
import { isRecord } from './frame.js';
import type { HostErrorCode } from './host-errors.js';
import { maxNameCharacters, maxPathCharacters } from './host-limits.js';

/**
 * A host's claim on its name: the file `<hostId>.<generation>.host`, private, written
 * whole before it has its name. The highest generation rules.
 */
export interface HostClaim {
  readonly hostId: string;
  readonly generation: number;
  readonly pid: number;
  readonly startTime: string | null;
  /** Tells a process from one with the same number and start time after a restart of the machine. */
  readonly bootId: string | null;
  readonly version: string;
  readonly socketPath: string;
  readonly token: string;
}

const claimName = /^([A-Za-z0-9_-]{1,64})\.(\d{1,15})\.host$/;
const maxClaimBytes = 16 * 1024;
const maxSocketPathBytes = 103;

export function checkHostId(hostId: string): void {
  if (!/^[A-Za-z0-9_-]+$/.test(hostId) || hostId.length > maxNameCharacters)
    throw new CodedError<HostErrorCode>(
      'HOST_BAD_REQUEST',
      `a host's name has 1 to ${maxNameCharacters} letters, digits, - and _; choose another`,
    );
}

/**
 * Makes `dir` where it is missing. Throws CodedError HOST_DIR_UNSAFE when it is not a
 * directory of ours alone: whoever can write there could put a socket of his own in place.
 */
export function ensurePrivateDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stat = lstatSync(dir);
  const refuse = (why: string): never => {
    throw new CodedError<HostErrorCode>('HOST_DIR_UNSAFE', `${dir} ${why}`, { details: { dir } });
  };
  if (!stat.isDirectory()) refuse('is not a directory; give another');
  if (process.getuid && stat.uid !== process.getuid()) refuse('belongs to somebody else');
  if ((stat.mode & 0o077) !== 0) refuse('is open to others; run chmod 700 on it');
}

/** Every claim in `dir`, by host, the highest generation first. Files that are no claims are passed over. */
export function readClaims(dir: string, hostId?: string): readonly HostClaim[] {
  let names: readonly string[];
  try {
    names = readdirSync(dir);
  } catch (failure) {
    if (isErrno(failure, 'ENOENT')) return [];
    throw failure;
  }
  const claims = names.flatMap((name) => {
    const found = claimName.exec(name);
    if (!found || (hostId !== undefined && found[1] !== hostId)) return [];
    const claim = readClaim(join(dir, name));
    return claim ? [claim] : [];
  });
  return claims.sort((a, b) => a.hostId.localeCompare(b.hostId) || b.generation - a.generation);
}

function readClaim(path: string): HostClaim | null {
  try {
    if (lstatSync(path).size > maxClaimBytes) return null;
    const fields: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRecord(fields) || !booleanOf(fields, 'ostlerHost')) return null;
    return {
      hostId: textOf(fields, 'hostId', maxNameCharacters),
      generation: numberOf(fields, 'generation'),
      pid: numberOf(fields, 'pid'),
      startTime: textOrNull(fields, 'startTime', 64),
      bootId: textOrNull(fields, 'bootId', 64),
      version: textOf(fields, 'version', 64),
      socketPath: textOf(fields, 'socketPath', maxPathCharacters),
      token: textOf(fields, 'token', 128),
    };
  } catch (failure) {
    // Taken away meanwhile, or not a claim.
    if (failure instanceof Error) return null;
    throw failure;
  }
}

export function isClaimantAlive(claim: HostClaim): boolean {
  if (claim.bootId !== null && claim.bootId !== readBootId()) return false;
  return isSameProcess(claim);
}

export type ClaimOutcome =
  | { readonly kind: 'won'; readonly claim: HostClaim }
  | { readonly kind: 'taken'; readonly claim: HostClaim };

/**
 * Claims `hostId` for this process, or says who holds it.
 *
 * No two processes can both win. The file of a generation is made by `link`, which one
 * of them does; the next generation is only tried by who has seen this one's holder
 * dead; and who made a generation that others had already passed sees a higher one and
 * gives up.
 */
export function claimHost(
  dir: string,
  hostId: string,
  token: string,
  version: string,
): ClaimOutcome {
  for (;;) {
    const [newest] = readClaims(dir, hostId);
    if (newest && isClaimantAlive(newest)) return { kind: 'taken', claim: newest };
    const generation = (newest?.generation ?? 0) + 1;
    const claim: HostClaim = {
      hostId,
      generation,
      ...identifyProcess(process.pid),
      bootId: readBootId(),
      version,
      socketPath: join(dir, `${hostId}.${generation}.sock`),
      token,
    };
    if (!putClaim(dir, claim)) continue;
    const [highest] = readClaims(dir, hostId);
    if (highest?.generation === generation) {
      for (const old of readClaims(dir, hostId))
        if (old.generation < generation) removeClaim(dir, old);
      return { kind: 'won', claim };
    }
    removeClaim(dir, claim);
  }
}

function putClaim(dir: string, claim: HostClaim): boolean {
  const path = claimPath(dir, claim);
  const written = `${path}.${process.pid}`;
  writeFileSync(written, JSON.stringify({ ostlerHost: true, ...claim }), { mode: 0o600 });
  try {
    linkSync(written, path);
    return true;
  } catch (failure) {
    if (isErrno(failure, 'EEXIST')) return false;
    throw failure;
  } finally {
    unlinkSync(written);
  }
}

/** Takes a claim and its socket away; that somebody has done so already is as good. */
export function removeClaim(dir: string, claim: HostClaim): void {
  removeFile(claim.socketPath);
  removeFile(claimPath(dir, claim));
}

export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (failure) {
    if (!isErrno(failure, 'ENOENT')) throw failure;
  }
}

function claimPath(dir: string, claim: HostClaim): string {
  return join(dir, `${claim.hostId}.${claim.generation}.host`);
}

/** The kernel's id of this run of the machine; null where it has none. */
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch (failure) {
    if (failure instanceof Error) return null;
    throw failure;
  }
}

/**
 * An address for `socketPath` that the system takes: 108 bytes on Linux. A longer path
 * goes through an open descriptor of its directory, so that the socket stays in there.
 * Throws CodedError HOST_PATH_TOO_LONG where there is no such way.
 */
export function socketAddress(
  dir: string,
  socketPath: string,
): { readonly path: string } & Disposable {
  if (Buffer.byteLength(socketPath) <= maxSocketPathBytes)
    return { path: socketPath, [Symbol.dispose]: () => undefined };
  if (process.platform !== 'linux')
    throw new CodedError<HostErrorCode>(
      'HOST_PATH_TOO_LONG',
      `${socketPath} is longer than the ${maxSocketPathBytes} bytes of a socket's address; use a shorter directory`,
    );
  const directory = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  let open = true;
  return {
    path: `/proc/self/fd/${directory}/${socketPath.slice(dir.length).replace(/^\/+/, '')}`,
    [Symbol.dispose]: () => {
      if (open) closeSync(directory);
      open = false;
    },
  };
}

export function makePrivate(path: string): void {
  chmodSync(path, 0o600);
}

export function isErrno(failure: unknown, ...codes: readonly string[]): boolean {
  return failure instanceof Error && 'code' in failure && codes.includes(String(failure.code));
}
