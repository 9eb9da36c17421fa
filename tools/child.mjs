import { spawn } from 'node:child_process';
import { withHeartbeat } from './progress.mjs';
import { root } from './root.mjs';

export const node = process.execPath;

const running = new Set();
let stoppedBy = null;

// A terminal sends Ctrl+C to children by itself; every other signal has to be handed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    stoppedBy = signal;
    if (signal !== 'SIGINT' || !process.stdin.isTTY)
      for (const child of running) child.kill(signal);
    if (running.size === 0) endLike({ code: null, signal });
  });
}

/** Ends this process as the child ended: by the same exit code or the same signal. */
export function endLike({ code, signal }) {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function track(child) {
  running.add(child);
  return new Promise((resolve) => {
    const settle = (end) => {
      running.delete(child);
      if (stoppedBy !== null) endLike({ code: null, signal: stoppedBy });
      resolve(end);
    };
    child.once('error', (error) => settle({ code: 127, signal: null, error }));
    child.once('close', (code, signal) => settle({ code, signal }));
  });
}

/** Runs a program on this terminal. Resolves with `{ code, signal }`. */
export function runInherited(command, args, { env = process.env, stdio = 'inherit' } = {}) {
  return track(spawn(command, args, { cwd: root, env, stdio }));
}

/**
 * Runs a program and keeps what it prints. Resolves with `{ ok, code, output }`;
 * with a label, a heartbeat says that it still runs.
 */
export async function runQuiet(
  command,
  args,
  { label, env = process.env, onSpawn, cwd = root } = {},
) {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => chunks.push(chunk));
  if (child.pid !== undefined) onSpawn?.(child.pid);
  const ended = track(child);
  const describe = typeof label === 'function' ? label : () => label;
  const { code, signal, error } =
    label === undefined ? await ended : await withHeartbeat(describe, () => ended);
  const output = Buffer.concat(chunks).toString('utf8') + (error ? `${error.message}\n` : '');
  return { ok: code === 0, code: code ?? signal, output };
}
