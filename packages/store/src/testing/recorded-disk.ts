import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';

/** What a process did to its files, in order, and what it said between. */
export type DiskStep =
  | { readonly do: 'open'; readonly fd: number; readonly path: string; readonly create: boolean }
  | { readonly do: 'write'; readonly fd: number; readonly data: Buffer; readonly at: number }
  | { readonly do: 'truncate'; readonly fd: number; readonly size: number }
  | { readonly do: 'sync'; readonly fd: number }
  | { readonly do: 'link'; readonly from: string; readonly to: string }
  | { readonly do: 'unlink'; readonly path: string }
  | { readonly do: 'say'; readonly line: string };

/** Null where this system traces system calls; else why not. */
export function whyNotTraced(): string | null {
  if (process.platform !== 'linux') return 'system calls are recorded on Linux';
  const { error, status } = spawnSync('strace', ['-o', '/dev/null', 'true']);
  if (error) return 'strace is not installed';
  return status === 0 ? null : 'strace may not trace here';
}

/** Runs the program until it dies; its main thread's calls go to `tracePath`. */
export async function recordTrace(argv: readonly string[], tracePath: string): Promise<void> {
  const calls =
    'openat,write,pwrite64,ftruncate,fsync,fdatasync,link,linkat,unlink,unlinkat,rename';
  const options = ['-y', '-xx', '-s', '100000', '-e', `trace=${calls}`, '-o', tracePath];
  const child = spawn('strace', [...options, process.execPath, ...argv], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
}

/** The steps of a trace that are about files of `dir`, `dir` itself, or stdout. */
export function parseTrace(trace: string, dir: string): DiskStep[] {
  const steps: DiskStep[] = [];
  const opened = new Set<number>();
  for (const line of trace.split('\n')) {
    const call = /^(\w+)\((.*)\) += (-?\d+)/.exec(line);
    if (!call || Number(call[3]) < 0) continue;
    const [, name = '', args = '', result = ''] = call;
    const fd = Number(/^(\d+)/.exec(args)?.[1] ?? -1);
    const texts = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) =>
      Buffer.from(hex.replaceAll('\\x', ''), 'hex'),
    );
    const paths = texts.map((text) => text.toString());
    const [path = '', other = ''] = paths;
    const inside = path === dir || path.startsWith(`${dir}/`);
    if (name === 'openat') {
      opened.delete(Number(result));
      if (!inside) continue;
      opened.add(Number(result));
      steps.push({ do: 'open', fd: Number(result), path, create: args.includes('O_CREAT') });
    } else if (name === 'write' && fd === 1) {
      steps.push({ do: 'say', line: (texts[0] ?? Buffer.alloc(0)).toString().trim() });
    } else if (name.startsWith('link') && inside) {
      steps.push({ do: 'link', from: path, to: other });
    } else if (name.startsWith('unlink') && inside) {
      steps.push({ do: 'unlink', path });
    } else if (name === 'rename' && inside) {
      throw new Error('renames are not modelled');
    } else if (opened.has(fd)) {
      const last = Number(/(\d+)$/.exec(args)?.[1]);
      if (name === 'pwrite64') {
        const data = texts[0] ?? Buffer.alloc(0);
        if (data.length !== Number(result)) throw new Error(`a write in part: ${line.slice(-80)}`);
        steps.push({ do: 'write', fd, data, at: last });
      } else if (name === 'ftruncate') steps.push({ do: 'truncate', fd, size: last });
      else if (name.endsWith('sync')) steps.push({ do: 'sync', fd });
      else if (name === 'write') throw new Error('writes without an offset are not modelled');
    }
  }
  return steps;
}

type Change = { readonly data: Buffer; readonly at: number } | { readonly size: number };

interface Inode {
  onDisk: Buffer;
  pending: Change[];
}

type NameChange = { readonly name: string; readonly inode: Inode | null };

/**
 * Says what of the changes that were never synced is on the disk: of each file in the order they
 * were made (`sector` of each, from 0), and how many changes of names.
 */
export interface Losses {
  keepsSector(change: number, changesCount: number, sector: number): boolean;
  namesKept(count: number): number;
}

export const sectorBytes = 512;

/** A disk that guarantees what was synced, and nothing else: neither order nor whole writes. */
export class RecordedDisk {
  readonly #dir: string;
  readonly #fds = new Map<number, Inode | 'directory'>();
  readonly #names = new Map<string, Inode>();
  readonly #namesOnDisk = new Map<string, Inode>();
  #pendingNames: NameChange[] = [];

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Changes that a power cut now may take back. */
  get pendingCount(): number {
    const inodes = new Set([...this.#names.values(), ...this.#namesOnDisk.values()]);
    let count = this.#pendingNames.length;
    for (const { pending } of inodes) count += pending.length;
    return count;
  }

  take(step: DiskStep): void {
    switch (step.do) {
      case 'open':
        this.#open(step.fd, step.path, step.create);
        break;
      case 'write':
      case 'truncate': {
        const inode = this.#fds.get(step.fd);
        if (inode === undefined || inode === 'directory') throw new Error(`no file ${step.fd}`);
        inode.pending.push(step);
        break;
      }
      case 'sync': {
        const inode = this.#fds.get(step.fd);
        if (inode === 'directory') this.#syncNames(this.#pendingNames.length, this.#namesOnDisk);
        else if (inode) {
          for (const change of inode.pending) inode.onDisk = applied(inode.onDisk, change);
          inode.pending = [];
        }
        if (inode === 'directory') this.#pendingNames = [];
        break;
      }
      case 'link': {
        const inode = this.#names.get(basename(step.from));
        if (inode) this.#rename({ name: basename(step.to), inode });
        break;
      }
      case 'unlink':
        this.#rename({ name: basename(step.path), inode: null });
        break;
      case 'say':
        break;
    }
  }

  /** The files after a power cut, by name. */
  image(losses: Losses): Map<string, Buffer> {
    const names = new Map(this.#namesOnDisk);
    this.#syncNames(losses.namesKept(this.#pendingNames.length), names);
    const files = new Map<string, Buffer>();
    for (const [name, inode] of names) {
      let bytes = Buffer.from(inode.onDisk);
      inode.pending.forEach((change, number) => {
        const keeps = (sector: number): boolean =>
          losses.keepsSector(number, inode.pending.length, sector);
        if ('size' in change) {
          if (keeps(0)) bytes = applied(bytes, change);
          return;
        }
        for (let from = 0; from < change.data.length; from += sectorBytes) {
          if (!keeps(from / sectorBytes)) continue;
          const data = change.data.subarray(from, from + sectorBytes);
          bytes = applied(bytes, { data, at: change.at + from });
        }
      });
      files.set(name, bytes);
    }
    return files;
  }

  #open(fd: number, path: string, create: boolean): void {
    if (path === this.#dir) {
      this.#fds.set(fd, 'directory');
      return;
    }
    const name = basename(path);
    let inode = this.#names.get(name);
    if (!inode) {
      if (!create) throw new Error(`${name} is opened and was never made`);
      inode = { onDisk: Buffer.alloc(0), pending: [] };
      this.#rename({ name, inode });
    }
    this.#fds.set(fd, inode);
  }

  #rename(change: NameChange): void {
    set(this.#names, change);
    this.#pendingNames.push(change);
  }

  #syncNames(count: number, names: Map<string, Inode>): void {
    for (const change of this.#pendingNames.slice(0, count)) set(names, change);
  }
}

function set(names: Map<string, Inode>, { inode, name }: NameChange): void {
  if (inode) names.set(name, inode);
  else names.delete(name);
}

/** May write into `bytes` where they are long enough. */
function applied(bytes: Buffer, change: Change): Buffer {
  if ('size' in change) {
    return change.size <= bytes.length
      ? Buffer.from(bytes.subarray(0, change.size))
      : Buffer.concat([bytes, Buffer.alloc(change.size - bytes.length)]);
  }
  const end = change.at + change.data.length;
  const grown =
    end <= bytes.length ? bytes : Buffer.concat([bytes, Buffer.alloc(end - bytes.length)]);
  change.data.copy(grown, change.at);
  return grown;
}
