import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCoded } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { loopbackUpScript } from './loopback.js';
import { offlineCommand } from './offline-command.js';
import { processesOfHome } from './own-processes.js';
import { defaultRoomDir, openSandbox } from './sandbox.js';

const roomDir = join(defaultRoomDir(), 'tests');

describe('openSandbox', () => {
  test('gives a private home, and removes it', async () => {
    const sandbox = openSandbox({ roomDir });
    expect(existsSync(sandbox.homeDir)).toBe(true);
    expect(existsSync(sandbox.workDir)).toBe(true);
    await sandbox[Symbol.asyncDispose]();
    expect(existsSync(sandbox.dir)).toBe(false);
  });

  test('refuses a home below the temporary folder', () => {
    const below = mkdtempSync(join(tmpdir(), 'ostler-'));
    try {
      openSandbox({ roomDir: below });
      expect.unreachable();
    } catch (failure) {
      expect(isCoded(failure, 'SANDBOX_IN_TMP')).toBe(true);
    } finally {
      rmSync(below, { recursive: true });
    }
  });

  test.runIf(process.platform === 'linux')(
    'ends a detached process that ignores the polite signal, and nobody else',
    async () => {
      await using mine = openSandbox({ roomDir });
      await using other = openSandbox({ roomDir });
      const start = async (home: string): Promise<number> => {
        const child = spawn('sh', ['-c', 'trap "" TERM HUP; echo up; sleep 100 & wait'], {
          env: { HOME: home, PATH: process.env['PATH'] ?? '' },
          detached: true,
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        await once(child.stdout, 'data');
        child.unref();
        return child.pid ?? 0;
      };
      const pid = await start(mine.homeDir);
      const spared = await start(other.homeDir);
      const stopped = await mine.stop();
      expect(stopped.map((entry) => entry.pid)).toContain(pid);
      expect(processesOfHome(mine.homeDir)).toEqual([]);
      expect(processesOfHome(other.homeDir).map((entry) => entry.pid)).toContain(spared);
    },
  );
});

describe('offlineCommand', () => {
  const plan = offlineCommand(process.execPath, [
    '-e',
    `const s = require('node:net').createServer().listen(0, '127.0.0.1', () => {
       console.log(JSON.stringify(Object.values(require('node:os').networkInterfaces()).flat().every((a) => a.internal)));
       s.close();
     });`,
  ]);

  test.skipIf(!plan.isolated)('runs with loopback up and nothing else', () => {
    const run = spawnSync(plan.command, plan.args, { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout.trim()).toBe('true');
  });

  test.skipIf(!plan.isolated)('hands on how the program ended', () => {
    const { command, args } = offlineCommand('sh', ['-c', 'exit 7']);
    expect(spawnSync(command, args).status).toBe(7);
  });

  test.skipIf(!plan.contained)('ends what the program leaves behind', () => {
    const { command, args } = offlineCommand('sh', ['-c', 'setsid sleep 100 & echo gone']);
    const home = join(roomDir, 'nobody-lives-here');
    const run = spawnSync(command, args, {
      encoding: 'utf8',
      env: { ...process.env, HOME: home },
    });
    expect(run.stdout.trim()).toBe('gone');
    expect(processesOfHome(home)).toEqual([]);
  });

  test('says why when it can not', () => {
    expect(plan.isolated || plan.reason !== null).toBe(true);
  });

  test.skipIf(!plan.isolated || process.getuid?.() !== 0)(
    'brings loopback up without iproute2',
    () => {
      for (const missing of ['ip', 'ip|ifconfig', 'ip|ifconfig|python3']) {
        const hidden = missing.split('|').map((name) => `${name}() { return 1; }`);
        const script = `${hidden.join('\n')}\n${loopbackUpScript}\ncat /sys/class/net/lo/flags /proc/self/net/dev`;
        const run = spawnSync('unshare', ['-n', 'sh', '-c', script], { encoding: 'utf8' });
        if (missing.includes('python3') && run.status === 97) continue;
        expect(run.status, missing).toBe(0);
      }
    },
  );
});
