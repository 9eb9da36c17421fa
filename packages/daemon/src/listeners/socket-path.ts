import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const socketName = 'ostler.sock';
/** What the kernel takes as a socket's path, its closing NUL not counted (104 on macOS, 108 on Linux). */
const maxSocketPathBytes = 103;

export interface SocketPath extends Disposable {
  readonly path: string;
}

/**
 * Where the daemon of a state directory listens: `ostler.sock` in it, or, where that is too long
 * for a socket, one in a private directory (0700) that `ostler.sock.path` names.
 */
export function chooseSocketPath(stateDir: string): SocketPath {
  const plain = join(stateDir, socketName);
  const note = `${plain}.path`;
  if (Buffer.byteLength(plain) <= maxSocketPathBytes) {
    rmSync(note, { force: true });
    return { path: plain, [Symbol.dispose]: () => rmSync(plain, { force: true }) };
  }
  removeNoted(note);
  const dir = mkdtempSync(join(shortDirectory(), 'ostler-'));
  chmodSync(dir, 0o700);
  const path = join(dir, socketName);
  writeFileSync(note, `${path}\n`, { mode: 0o600 });
  return {
    path,
    [Symbol.dispose]() {
      rmSync(note, { force: true });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What an earlier daemon left: its directory, where nothing but its socket can be in it. */
function removeNoted(note: string): void {
  let path: string;
  try {
    path = readFileSync(note, 'utf8').trim();
  } catch {
    // There is no earlier one.
    return;
  }
  if (path.endsWith(`/${socketName}`) && /\/ostler-[A-Za-z0-9]{6}\//.test(path)) {
    rmSync(dirname(path), { recursive: true, force: true });
  }
}

function shortDirectory(): string {
  const wanted = process.env['XDG_RUNTIME_DIR'] ?? tmpdir();
  const longest = join(wanted, 'ostler-XXXXXX', socketName);
  return Buffer.byteLength(longest) <= maxSocketPathBytes ? wanted : '/tmp';
}
