import {
  mkdirSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { say, withHeartbeat } from './progress.mjs';
import { readText, root } from './root.mjs';

const lockDir = join(root, '.ostler');
const refreshMs = 2_000;
const staleMs = 60_000;
const pollMs = 500;

/**
 * Runs `work` while this process alone holds the named lock of this tree.
 * A lock whose holder died, or was not refreshed for a minute, is taken over.
 */
export async function underLock(name, work) {
  mkdirSync(lockDir, { recursive: true });
  const file = join(lockDir, `${name}.lock`);
  if (!tryLock(file)) {
    say('another run is installing or building in this tree: waiting for it');
    await withHeartbeat(
      () => 'still waiting for the other run',
      async () => {
        while (!tryLock(file)) await pause(pollMs);
      },
    );
  }
  const refresh = setInterval(() => {
    if (isOurs(file)) utimesSync(file, new Date(), new Date());
  }, refreshMs);
  const release = () => {
    if (isOurs(file)) rmSync(file, { force: true });
  };
  process.once('exit', release);
  try {
    return await work({ alsoHeldBy: (pid) => writeFileSync(file, `${process.pid} ${pid}\n`) });
  } finally {
    clearInterval(refresh);
    process.removeListener('exit', release);
    release();
  }
}

function tryLock(file) {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (isHeld(file)) return false;
  return takeOver(file);
}

/** Of several who find a dead lock, one may remove it: whoever makes the directory beside it. */
function takeOver(file) {
  const turn = `${file}.takeover`;
  try {
    mkdirSync(turn);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (ageMs(turn) > staleMs) rmdirSync(turn);
    return false;
  }
  try {
    if (isHeld(file)) return false;
    unlinkSync(file);
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return false;
    throw error;
  } finally {
    rmdirSync(turn);
  }
}

function isHeld(file) {
  const text = readText(file);
  if (text === null) return false;
  const pids = text
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => pid > 0);
  // An empty file is one that its holder is just writing.
  if (pids.length > 0 && !pids.some(isAlive)) return false;
  return ageMs(file) < staleMs;
}

function isOurs(file) {
  return readText(file)?.split(' ')[0]?.trim() === String(process.pid);
}

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch (error) {
    if (error.code === 'ENOENT') return 0;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
