import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/**
 * Brings loopback up with whatever the system has: iproute2, net-tools, python3, perl.
 * Ends with status 97 when none of them works.
 */
export const loopbackUpScript: string = [
  'up() {',
  '  ip link set lo up 2>/dev/null && return 0',
  '  ifconfig lo up 2>/dev/null && return 0',
  // SIOCSIFFLAGS with IFF_UP | IFF_RUNNING on an ifreq of 40 bytes.
  `  python3 -c 'import fcntl,socket,struct;fcntl.ioctl(socket.socket(),0x8914,struct.pack("16sH22x",b"lo",0x41))' 2>/dev/null && return 0`,
  `  perl -e 'use Socket;socket(S,AF_INET,SOCK_DGRAM,0)||exit 1;my $r=pack("a16Sx22","lo",0x41);ioctl(S,0x8914,$r)||exit 1' 2>/dev/null && return 0`,
  '  return 1',
  '}',
  'up || exit 97',
].join('\n');

/** True when this process has no network but loopback: nothing it starts can reach anything else. */
export function isOffline(): boolean {
  const listed = '/proc/self/net/dev';
  if (!existsSync(listed)) return onlyLoopback(Object.keys(networkInterfaces()), false);
  const names = readFileSync(listed, 'utf8')
    .split('\n')
    .slice(2)
    .flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':')).trim()] : []));
  return onlyLoopback(names, true);
}

/** Interfaces the kernel adds to every network namespace; they lead nowhere while they have no address. */
const idleInterfaces = /^(lo|sit0|tunl0|gre0|gretap0|erspan0|ip6tnl0|ip6_vti0|ip_vti0|ip6gre0)$/;

function onlyLoopback(names: readonly string[], complete: boolean): boolean {
  if (!complete || names.length === 0) return false;
  if (!names.every((name) => idleInterfaces.test(name))) return false;
  return Object.entries(networkInterfaces()).every(
    ([, addresses]) => addresses?.every((address) => address.internal) ?? true,
  );
}
