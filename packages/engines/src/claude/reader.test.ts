import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { replayCast, replayScreens } from '../recordings/index.js';
import { ClaudeReader } from './reader.js';

const cast = (name: string): string =>
  fileURLToPath(new URL(`../../../../fixtures/claude/2.1.328/${name}.cast`, import.meta.url));
const reader = new ClaudeReader('2.1.328');

test('a half-painted frame is not read', async () => {
  for await (const snapshot of replayScreens(cast('s1-idle-drafts'), [5.2])) {
    const modes = { ...snapshot.modes, synchronizedOutput: true };
    expect(reader.read({ ...snapshot, modes })).toMatchObject({ readable: false, composer: null });
  }
});

describe('the status file', () => {
  const side = (value: string) => [{ source: 'status_file', value, atMs: 0 }];

  test('forbids typing on a composer', async () => {
    for await (const snapshot of replayScreens(cast('s1-idle-drafts'), [3])) {
      expect(reader.read(snapshot, side('waiting: permission prompt')).hold).toBe('permission');
      expect(reader.read(snapshot, side('waiting: dialog open')).hold).toBe('waiting_for_user');
      expect(reader.read(snapshot, side('busy')).hold).toBeNull();
    }
  });

  test('never allows it on a dialog', async () => {
    for await (const snapshot of replayScreens(cast('s5-dialogs'), [7.4])) {
      const reading = reader.read(snapshot, side('idle'));
      expect(reading).toMatchObject({ hold: 'permission', composer: null });
    }
  });
});

describe('the key that stops a turn', () => {
  test.each([
    ['s3-busy-tool', 10.2, '\u001b'],
    ['s5-dialogs', 7.4, null],
    ['s5-dialogs', 25.6, null],
    ['s5-dialogs', 29.8, null],
    ['s4-hooks-queue', 34, null],
    ['s3-busy-tool', 23, null],
    ['s0-boot', 0.5, null],
  ])('%s at %d', async (name, at, keys) => {
    expect(reader.stopKeys(await replayCast(cast(name), reader, { at }))).toBe(keys);
  });
});
