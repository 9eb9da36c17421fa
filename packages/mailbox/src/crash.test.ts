import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, type Program } from './testing/build-program.js';
import { start } from './testing/other-processes.js';
import { type TestMailbox, testMailbox } from './testing/test-mailbox.js';

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
/** More than a send or reply has: the last deaths never come, and the work is done. */
const mostMoments = 24;

let program: Program;

beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program[Symbol.dispose]());

function notified(world: TestMailbox): readonly string[] {
  const file = join(world.dir, 'notified');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

async function run(
  world: TestMailbox,
  args: readonly string[],
  dieAt: number,
): Promise<{ said: readonly unknown[]; died: boolean }> {
  const env = { NOTIFIED: join(world.dir, 'notified'), DIE_AT: String(dieAt) };
  const started = start(program.path, args, env);
  await started.ready;
  started.go();
  const { said, signal } = await started.ended;
  expect([null, 'SIGKILL']).toContain(signal);
  return { said, died: signal === 'SIGKILL' };
}

/**
 * Kills it at every moment there is, once each; then does the same again to its end. Counts
 * where the deaths left the message.
 */
async function atEveryMoment(
  prepare: (world: TestMailbox) => Promise<void>,
  argsOf: (world: TestMailbox) => readonly string[],
  find: (world: TestMailbox) => { id: string; submission: string } | null,
): Promise<Map<string, number>> {
  const left = new Map<string, number>();
  for (let dieAt = 0; dieAt < mostMoments; dieAt += 1) {
    using world = testMailbox();
    await prepare(world);
    const first = await run(world, argsOf(world), dieAt);
    const message = find(world);
    // What was acknowledged is there; what is there is whole.
    if (first.said.includes('saved')) expect(message).not.toBeNull();
    expect(notified(world).length).toBeLessThanOrEqual(1);
    if (notified(world).length === 1) {
      expect(message?.submission).toMatch(/^submission_unknown$|^submitted$/u);
    }
    const where = message === null ? 'not there' : message.submission;
    left.set(where, (left.get(where) ?? 0) + 1);

    const before = notified(world).length;
    const again = await run(world, argsOf(world), -1);
    const after = find(world);
    expect(again.said.at(-1)).toMatchObject({ created: message === null });
    if (message === null) {
      expect(notified(world)).toEqual([after?.id]);
    } else {
      // The same again is the saved message, as it stood, and nobody is told a second time.
      expect(after).toEqual(message);
      expect(notified(world)).toHaveLength(before);
    }
    if (!first.died) return left;
  }
  throw new Error(`it never lived through: ${JSON.stringify([...left])}`);
}

test('killed at every moment of a send: there or not there, never a second notification', {
  timeout: 120_000,
}, async () => {
  const left = await atEveryMoment(
    async () => undefined,
    (world) => ['send', world.path, 'alice', 'bob', id, 'question'],
    (world) => world.mailbox.sent('alice')[0] ?? null,
  );
  process.stdout.write(`send, left by deaths: ${JSON.stringify([...left])}\n`);
  expect([...left.keys()].sort()).toEqual([
    'not there',
    'not_submitted',
    'submission_unknown',
    'submitted',
  ]);
});

test('killed at every moment of a reply: the one answer or none, never a second notification', {
  timeout: 120_000,
}, async () => {
  const left = await atEveryMoment(
    async (world) => {
      await world.mailbox.send('alice', 'bob', 'question', { id, notify: false });
    },
    (world) => ['reply', world.path, 'bob', id, 'answer'],
    (world) => world.mailbox.sent('bob')[0] ?? null,
  );
  process.stdout.write(`reply, left by deaths: ${JSON.stringify([...left])}\n`);
  expect([...left.keys()].sort()).toEqual([
    'not there',
    'not_submitted',
    'submission_unknown',
    'submitted',
  ]);
});

test('killed while making the file: there is a whole one or none', {
  timeout: 120_000,
}, async () => {
  using world = testMailbox();
  for (let dieAt = 0; dieAt < mostMoments; dieAt += 1) {
    const path = join(world.dir, `fresh-${dieAt}`, 'mail.sqlite3');
    const args = ['peer', path, 'new', '44444444-4444-4444-8444-444444444444', world.dir];
    const { died } = await run(world, args, dieAt);
    const { said } = await run(world, args, -1);
    expect(said.at(-1)).toMatchObject({ name: 'new' });
    if (!died) return;
  }
  throw new Error('it never lived through');
});
