import { fileURLToPath } from 'node:url';
import { Screen } from '@ostler/terminal';
import { describe, expect, test } from 'vitest';
import { replayCast } from '../recordings/index.js';
import { CodexReader } from './reader.js';

async function read(output: string, version: string | null = '0.169.0') {
  using screen = new Screen({ cols: 80, rows: 12 });
  screen.feed(`\x1b[?2004h${output}`);
  const snapshot = await screen.look();
  return new CodexReader(version).read(snapshot);
}

const say = (state: string): string => `\u001b]7501;state=${state}:app=codex\u001b\\`;
const composer =
  '\u001b[8;1H\u001b[1m›\u001b[22m \u001b[2mAsk Codex to do anything\u001b[22m' +
  '\u001b[10;1H  gpt-5.1-codex default · ~/project\u001b[8;3H';
const alternate = '\u001b[?1049h\u001b[2J';

describe('the busy rule by version', () => {
  test.each([
    [null, 'native_input'],
    ['0.105.9', 'native_input'],
    ['0.106.0', 'steering'],
    ['0.156.1', 'steering'],
    ['0.171.0', 'steering'],
  ])('%s: %s', (version, mode) => {
    expect(new CodexReader(version).busyMode).toBe(mode);
  });
});

describe('signals beside the screen forbid typing, never allow it', () => {
  test('idle and a composer', async () => {
    expect(await read(alternate + composer + say('idle'))).toMatchObject({
      readable: true,
      hold: null,
      composer: { draft: '' },
      signals: [{ source: 'program_state', value: 'idle' }],
    });
  });

  test('blocked before the dialog is painted', async () => {
    const output = alternate + composer + say('blocked').replace(':app', ':kind=permission:app');
    expect(await read(output)).toMatchObject({ hold: 'permission', composer: null, busy: true });
  });

  test('blocked by the title where there are no states', async () => {
    const output = `\u001b]0;[ . ] Action Required | project\u0007${composer}`;
    expect(await read(output, '0.156.1')).toMatchObject({ hold: 'action_required', busy: true });
  });

  test('nothing said yet on the alternate screen: starting', async () => {
    expect(await read(alternate + composer)).toMatchObject({ hold: 'starting', composer: null });
  });

  test('another program state is none of ours', async () => {
    const output = alternate + composer + say('idle').replace('app=codex', 'app=other');
    expect(await read(output)).toMatchObject({ hold: 'starting' });
  });

  test('quit, though the screen still shows a composer', async () => {
    expect(await read(alternate + composer + say('clear'))).toMatchObject({ readable: false });
  });

  test('idle said over an unknown screen allows nothing', async () => {
    expect(await read(`${alternate}${say('idle')}\u001b[1;1H$ `)).toMatchObject({
      readable: false,
      composer: null,
    });
  });
});

describe('what is no composer', () => {
  test('hidden cursor', async () => {
    expect(await read(`${alternate}${composer}${say('idle')}\u001b[?25l`)).toMatchObject({
      readable: false,
    });
  });

  test('a half painted frame', async () => {
    expect(await read(`${alternate}${composer}${say('idle')}\u001b[?2026h`)).toMatchObject({
      readable: false,
    });
  });

  test('the glyph of a prompt already sent is dim', async () => {
    const output = `${alternate}${say('idle')}\u001b[3;1H\u001b[1;2m›\u001b[22m hello\u001b[3;8H`;
    expect(await read(output)).toMatchObject({ readable: false, composer: null });
  });

  test('a shell prompt', async () => {
    expect(await read('user@host:~$ ')).toMatchObject({ readable: false, composer: null });
  });
});

test('only the dim style tells a placeholder from a draft', async () => {
  const other = composer.replace('Ask Codex to do anything', 'Summarize recent commits');
  expect(await read(alternate + other + say('idle'))).toMatchObject({
    composer: { draft: '', ghost: 'Summarize recent commits' },
  });
  const typed = composer.replace(/\u001b\[2m|\u001b\[22m(?=\u001b\[10)/gu, '');
  expect(await read(alternate + typed + say('idle'))).toMatchObject({
    composer: { draft: 'Ask Codex to do anything', ghost: null },
  });
});

describe('stop keys', () => {
  const status = '\u001b[5;1H• Working (3s • esc to interrupt)';
  const stop = async (output: string): Promise<string | null> =>
    new CodexReader('0.169.0').stopKeys(await read(output));

  test('Esc while busy with an empty composer', async () => {
    expect(await stop(alternate + status + composer + say('working'))).toBe('\u001b');
  });

  test('none when idle, with a draft, or with inputs pending', async () => {
    expect(await stop(alternate + composer + say('idle'))).toBeNull();
    const drafted = composer.replace('\u001b[2mAsk Codex to do anything', 'a draft');
    expect(await stop(alternate + status + drafted + say('working'))).toBeNull();
    const pending =
      '\u001b[4;1H• Working (3s • esc to interrupt)' +
      '\u001b[5;1H• Messages to be submitted after next tool call (press esc …)\u001b[6;1H  ↳ B';
    expect(await stop(alternate + pending + composer + say('working'))).toBeNull();
  });
});

describe('what typing now would overtake', () => {
  test.each([
    ['a text that waits for the next tool call goes first by itself', 4.41, null],
    ['a follow-up waits for the end of the turn', 5.56, 'follow_up_queue'],
    ['an idle engine holds nothing back', 2.5, null],
  ])('%s', async (_what, at, expected) => {
    const reader = new CodexReader('0.169.0');
    const cast = fileURLToPath(
      new URL('../../../../fixtures/codex/0.169.0/busy-steer.cast', import.meta.url),
    );
    const reading = await replayCast(cast, reader, { at });
    expect(reader.overtakes(reading)).toBe(expected);
    expect(reading.hold).toBeNull();
  });
});
