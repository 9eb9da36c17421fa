import type { SessionRecord } from '@ostler/service';
import { expect, test } from 'vitest';
import { keptIn, keptText } from './kept-session.js';

const env = { PATH: '/bin' };
const record: SessionRecord = {
  agentId: 'agent',
  name: 'one',
  engine: 'generic',
  launchedAtMs: 1,
  plan: { file: '/bin/sh', args: [], env, version: null },
  request: { args: [], cwd: '/', sessionDir: '/', env },
};
const note = { deliveryId: 'd', text: 'text', reclaiming: true };

test('is read as it was written, with a note and without', () => {
  expect(keptIn(keptText({ record, note }))).toEqual({ record, note });
  expect(keptIn(keptText({ record, note: null }))).toEqual({ record, note: null });
});

test('a note of a daemon that announced pastes alone is one of a paste', () => {
  const older = keptText({ record, note }).replace(',"reclaiming":true', '');
  expect(older).not.toContain('reclaiming');
  expect(keptIn(older)?.note).toEqual({ ...note, reclaiming: false });
});

test('what is something else is nobody’s', () => {
  for (const text of ['', '{', 'null', '{}', JSON.stringify({ record: {}, note: null })]) {
    expect(keptIn(text)).toBeNull();
  }
});
