// Packs the command line, the PTY host and the simulated agent, each with all it imports, into few files:
// Node reads, resolves and compiles some 400 modules otherwise, which is most of the time `ostler up` takes.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { root } from './root.mjs';

const out = join(root, 'packages', 'ostler', 'dist');
/** Parts keep one depth below `dist`, so that what finds a program beside itself finds it here too. */
const programs = {
  'program/ostler': 'packages/ostler/dist/cli/main.js',
  'host/host-main': 'packages/terminal/dist/host/host-main.js',
  'simulated-agent/main': 'packages/lab/dist/simulated-agent/main.js',
};
/** Native, and found by Node at run time; `ostler` depends on both. */
const native = ['better-sqlite3', 'node-pty'];
const notices = join(out, 'program', 'THIRD-PARTY-NOTICES.txt');

/** Resolves with `{ ok, output }`. The compiled packages are what is packed: build them first. */
export async function pack() {
  try {
    const { rolldown } = await import('rolldown');
    const bundle = await rolldown({
      cwd: root,
      input: programs,
      platform: 'node',
      external: (id) => native.some((name) => id === name || id.startsWith(`${name}/`)),
      onLog: (level, { message }) => {
        if (level === 'warn') throw new Error(message);
      },
    });
    rmSync(join(out, 'program'), { recursive: true, force: true });
    const { output } = await bundle.write({
      dir: out,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'program/[name].js',
    });
    await bundle.close();
    writeFileSync(notices, noticesOf(output.flatMap(({ moduleIds = [] }) => moduleIds)));
    return { ok: true, output: '' };
  } catch (failure) {
    return { ok: false, output: `${failure instanceof Error ? failure.stack : failure}\n` };
  }
}

/** What a licence asks of those who pass its code on: the text of every package a module came from. */
function noticesOf(moduleIds) {
  const dirs = new Set(moduleIds.map(packageOf).filter((dir) => dir !== null));
  return [...dirs].sort().map(noticeOf).join('\n');
}

function packageOf(id) {
  const marker = `${sep}node_modules${sep}`;
  const at = id.lastIndexOf(marker);
  if (at === -1 || id.startsWith('\0')) return null;
  const [scope, name] = id.slice(at + marker.length).split(sep);
  return id.slice(0, at + marker.length) + (scope.startsWith('@') ? join(scope, name) : scope);
}

function noticeOf(dir) {
  const { name, version, license } = createRequire(import.meta.url)(join(dir, 'package.json'));
  const file = readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(dir, file), 'utf8');
  return `${name} ${version}\n${'-'.repeat(72)}\n${text.trim()}\n`;
}
