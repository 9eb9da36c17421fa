import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@ostler/runtime';
import { type Finding, messageOf } from './finding.js';

const rebuild = 'python3, make and a C++ compiler have to be there; then: npm rebuild';

/** Native code is loaded at its first use, so both rooms are used, on a directory that goes again. */
export async function nativeFindings(): Promise<readonly Finding[]> {
  const rooms = [
    ['native terminal', 'opens a terminal', useTerminal],
    ['native store', 'opens a store', useStore],
  ] as const;
  return await Promise.all(
    rooms.map(async ([what, saw, use]): Promise<Finding> => {
      const dir = mkdtempSync(join(tmpdir(), 'ostler-doctor-'));
      try {
        await use(dir);
        return { what, level: 'ok', saw };
      } catch (failure) {
        return { what, level: 'fault', saw: messageOf(failure), todo: rebuild };
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }),
  );
}

async function useTerminal(cwd: string): Promise<void> {
  const { spawnPty } = await import('@ostler/terminal');
  const args = ['-e', ''];
  const pty = await spawnPty({ file: process.execPath, args, cwd, env: {}, cols: 80, rows: 24 });
  await pty[Symbol.asyncDispose]();
}

async function useStore(dir: string): Promise<void> {
  const { openStore } = await import('@ostler/store');
  openStore({ stateDir: join(dir, 'state'), clock: systemClock }).close();
}
