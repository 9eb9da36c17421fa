import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { simulatedLaunch } from '@ostler/lab';
import { Disposables } from '@ostler/runtime';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('testing/few-files-program.mjs', import.meta.url));
/** Enough for Node, a store and an agent. */
const maxOpenFiles = 256;

test('out of file descriptors: every refusal has a code, and all goes on once there are some', async () => {
  await using owned = new Disposables();
  const dir = mkdtempSync(join(tmpdir(), 'ostler-files-'));
  owned.defer(() => rmSync(dir, { recursive: true, force: true }));
  const { control, ...launch } = owned.own(
    await simulatedLaunch({ script: { turns: [{ forMs: 10 }] } }),
  );
  const task = JSON.stringify({ stateDir: join(dir, 'state'), launch });
  const limited = `ulimit -n ${maxOpenFiles}; exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)('sh', [
    ...['-c', limited, process.execPath, program, task],
  ]);
  const said = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const outcomes = said.filter(({ what }) => what !== undefined);
  expect(said).toContainEqual({ usedUp: 'EMFILE' });
  expect(outcomes[0]).toMatchObject({ what: 'launch', ok: true });
  for (const refused of outcomes.filter(({ ok }) => ok === false)) {
    expect(refused).toMatchObject({ named: 'CodedError' });
  }
  expect(outcomes.find(({ what }) => what === 'another store')).toMatchObject({ ok: false });
  expect(outcomes.filter(({ what }) => what === 'another agent')).toMatchObject([
    { ok: false },
    { ok: true },
  ]);
  const last = said.find(({ receipt }) => receipt !== undefined);
  expect(last).toMatchObject({ receipt: { state: expect.stringMatching(/started|completed/) } });
  const received = control.received();
  expect(received.every(({ count }) => count === 1)).toBe(true);
});
