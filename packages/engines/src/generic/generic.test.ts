import { Screen } from '@ostler/terminal';
import { expect, test } from 'vitest';
import { genericEngines } from './index.js';
import { GenericReader } from './reader.js';

test('one engine a program, none of which types', () => {
  expect(genericEngines.map((engine) => engine.id)).toEqual([
    'generic',
    'opencode',
    'gemini',
    'pi',
    'qwen',
    'copilot',
    'cline',
  ]);
  for (const engine of genericEngines) expect(engine.reader(null).busyMode).toBe('daemon_queue');
});

test('a dialog of one program is none of another, nor with a visible cursor', async () => {
  using screen = new Screen({ cols: 60, rows: 10 });
  screen.feed('\u001b[?25l Approve tool call?\r\n\r\n  [y] Approve   [n] Deny\r\n');
  const hidden = await screen.look();
  expect(new GenericReader('cline', null).read(hidden)).toMatchObject({ hold: 'permission' });
  expect(new GenericReader('generic', null).read(hidden)).toMatchObject({ hold: 'permission' });
  expect(new GenericReader('gemini', null).read(hidden)).toMatchObject({ readable: false });
  screen.feed('\u001b[?25h');
  const visible = await screen.look();
  expect(new GenericReader('cline', null).read(visible)).toMatchObject({ readable: false });
});

test('an unknown program is asked for nothing, and has to be named', async () => {
  const generic = genericEngines[0];
  const request = { args: [], cwd: '/', env: { PATH: '/bin:/usr/bin' }, sessionDir: '/' };
  await expect(generic?.planLaunch(request)).rejects.toMatchObject({ code: 'ENGINE_NOT_FOUND' });
  expect(await generic?.planLaunch({ ...request, command: 'sh' })).toMatchObject({ version: null });
});

test('a text is refused', async () => {
  using screen = new Screen({ cols: 60, rows: 10 });
  const reader = new GenericReader('pi', null);
  const snapshot = await screen.look();
  expect(reader.prepareBody('hello', snapshot)).toMatchObject({ reason: 'engine_unknown' });
  expect(reader.matchDraft()).toBe('other');
});
