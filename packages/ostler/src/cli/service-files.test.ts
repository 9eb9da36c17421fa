import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { program } from './program.js';

const folder = new URL('../../../../docs/examples/service/', import.meta.url);
const unit = readFileSync(fileURLToPath(new URL('ostler.service', folder)), 'utf8');
const plist = readFileSync(fileURLToPath(new URL('dev.ostler.daemon.plist', folder)), 'utf8');
const verifier = 'systemd-analyze';
const verifies = spawnSync(verifier, ['--version']).status === 0;

test.skipIf(!verifies)('systemd understands the unit', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-unit-'));
  try {
    const path = join(dir, 'ostler.service');
    // The command has to be there to be verified.
    writeFileSync(path, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
    const env = { PATH: process.env['PATH'], HOME: dir, XDG_RUNTIME_DIR: dir };
    const options = { encoding: 'utf8', env } as const;
    const { status, stderr } = spawnSync(verifier, ['--user', 'verify', path], options);
    expect(stderr).toBe('');
    expect(status).toBe(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('both start `ostler up` with options it knows, and leave hosts alive', async () => {
  const ostler = await program('up');
  const known = ostler.commands[0]?.options.map(({ long }) => long);
  const fromUnit = /^ExecStart=\S+ (.+)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  const given = /ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(plist)?.[1] ?? '';
  const fromPlist = [...given.matchAll(/<string>(.*?)<\/string>/g)]
    .slice(1)
    .map(([, word]) => word);
  for (const words of [fromUnit, fromPlist]) {
    expect(words[0]).toBe('up');
    const flags = words.filter((word) => word?.startsWith('--'));
    expect(known).toEqual(expect.arrayContaining(flags));
  }
  expect(unit).toMatch(/^KillMode=process$/m);
  expect(plist).toMatch(/<key>AbandonProcessGroup<\/key>\s*<true\/>/);
});
