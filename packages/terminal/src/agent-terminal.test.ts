import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { AgentTerminal, type AgentTerminalLaunchOptions } from './agent-terminal.js';
import { parseCast } from './cast-reader.js';
import type { ScreenSnapshot } from './snapshot.js';

const folder = mkdtempSync(join(tmpdir(), 'ostler-terminal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function launch(
  script: string,
  options: Partial<AgentTerminalLaunchOptions> = {},
): Promise<AgentTerminal> {
  return AgentTerminal.launch({
    file: 'sh',
    args: ['-c', script],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    cols: 80,
    rows: 24,
    ...options,
  });
}

const text = (snapshot: ScreenSnapshot): string =>
  snapshot.rows
    .map((row) => row.text)
    .join('\n')
    .trimEnd();

/** Woken by changes only. */
function until(
  terminal: AgentTerminal,
  wanted: (snapshot: ScreenSnapshot) => boolean,
): Promise<ScreenSnapshot> {
  return new Promise((resolve, reject) => {
    const check = (snapshot: ScreenSnapshot): void => {
      if (!wanted(snapshot)) return;
      subscription[Symbol.dispose]();
      resolve(snapshot);
    };
    const subscription = terminal.onChange(check);
    terminal.look().then(check, reject);
  });
}

const echoing = `stty raw -echo; printf '\\033[?2004hready>'; exec cat -v`;

describe('AgentTerminal', () => {
  test('a paste, an Enter, and what a person typed meanwhile, in that order', async () => {
    await using terminal = await launch(echoing);
    await until(terminal, (snapshot) => text(snapshot).endsWith('ready>'));
    const token = terminal.writer.acquire();
    expect(await terminal.writer.paste(token, ['a b', 'c'])).toEqual({ kind: 'carried_out' });
    expect(terminal.personInput('me')).toEqual({ kind: 'held' });
    expect(await terminal.writer.enter(token)).toEqual({ kind: 'carried_out' });
    terminal.writer.release(token);
    const snapshot = await until(terminal, (now) => text(now).includes('me'));
    expect(text(snapshot)).toBe('ready>^[[200~a b^[[201~^[[200~c^[[201~^Mme');
  });

  test('mode 2004 is read when the paste is written', async () => {
    await using terminal = await launch(`stty raw -echo; printf 'plain>'; exec cat -v`);
    await until(terminal, (snapshot) => text(snapshot).endsWith('plain>'));
    const token = terminal.writer.acquire();
    expect(await terminal.writer.paste(token, ['a\nb'])).toEqual({
      kind: 'refused',
      reason: 'lines_without_brackets',
    });
    expect(await terminal.writer.paste(token, ['ab'])).toEqual({ kind: 'carried_out' });
    await until(terminal, (snapshot) => text(snapshot) === 'plain>ab');
  });

  test("the terminal's replies reach the program", async () => {
    await using terminal = await launch(`stty raw -echo; printf '\\033[6n'; exec cat -v`);
    const snapshot = await until(terminal, (now) => text(now) !== '');
    expect(text(snapshot)).toBe('^[[1;1R');
  });

  test('a resize reaches the program and the screen', async () => {
    await using terminal = await launch(
      `trap 'stty size' WINCH; echo ready; while :; do sleep 1 & wait; done`,
    );
    await until(terminal, (snapshot) => text(snapshot) === 'ready');
    terminal.resize(100, 32);
    const snapshot = await until(terminal, (now) => text(now).includes('32 100'));
    expect([snapshot.cols, snapshot.rows.length]).toEqual([100, 32]);
    expect([terminal.cols, terminal.rows]).toEqual([100, 32]);
    expect(() => terminal.resize(0, 1)).toThrow(expect.objectContaining({ code: 'PTY_BAD_SIZE' }));
  });

  test('the end of the program leaves its last screen, until close', async () => {
    const terminal = await launch('echo last words; exit 3');
    const exit = await new Promise((resolve) => terminal.onExit(resolve));
    expect(exit).toMatchObject({ exitCode: 3 });
    expect(terminal.isSameProcessAlive()).toBe(false);
    expect(text(await terminal.look())).toBe('last words');
    terminal.resize(70, 20);
    expect((await terminal.look()).cols).toBe(70);
    const input = terminal.personInput('x');
    expect(input.kind === 'passed_on' && (await input.written).kind).toBe('nothing_written');
    await terminal.close();
    await terminal.close();
    await expect(terminal.look()).rejects.toMatchObject({ code: 'SCREEN_DISPOSED' });
  });

  test('records both ways', async () => {
    const castPath = join(folder, 'both.cast');
    const terminal = await launch(echoing, { castPath, castTitle: 'both ways' });
    await until(terminal, (snapshot) => text(snapshot).endsWith('ready>'));
    terminal.cast?.mark('typing');
    terminal.personInput('é');
    await until(terminal, (snapshot) => text(snapshot).includes('M-CM-)'));
    terminal.resize(90, 30);
    await terminal.close();
    const { header, events } = parseCast(readFileSync(castPath));
    expect(header).toMatchObject({ width: 80, height: 24, title: 'both ways' });
    expect(
      events.map((event) => [event.kind, event.kind === 'r' ? event.cols : event.data]),
    ).toEqual(
      expect.arrayContaining([
        ['m', 'typing'],
        ['i', 'é'],
        ['r', 90],
      ]),
    );
  });

  test('a program that cannot start leaves no open recording behind', async () => {
    const castPath = join(folder, 'none.cast');
    await expect(launch('', { file: 'no-such-program', castPath })).rejects.toMatchObject({
      code: 'PTY_SPAWN_FAILED',
    });
    await expect(launch('true', { castPath })).rejects.toMatchObject({ code: 'CAST_FILE_EXISTS' });
  });
});
