import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { AgentTerminal } from '../agent-terminal.js';
import { isSameProcess } from '../process-identity.js';
import { Screen } from '../screen.js';
import { echoing, HostRig, launch, shell, text, until } from '../testing/host-rig.js';
import { observeHost } from './list-hosts.js';

const built = new URL('../../dist/index.js', import.meta.url).href;

/** A daemon in a process of its own: it starts `script`, says so, and works until it is killed. */
async function daemon(
  dir: string,
  script: string,
): Promise<{ pid: number; kill(): Promise<void> }> {
  const source = `
    import { AgentTerminal, connectHost } from ${JSON.stringify(built)};
    const [dir, script] = process.argv.slice(1);
    const host = await connectHost({ dir, hostId: 'main', startIfMissing: true });
    const endpoint = await host.spawn({
      sessionId: 'a', metadata: '{"name":"a"}', file: 'sh', args: ['-c', script], cwd: '/',
      env: { PATH: process.env.PATH }, cols: 80, rows: 24,
    });
    const terminal = new AgentTerminal({ endpoint });
    let bytes = 0;
    terminal.onOutput((data) => {
      bytes += data.length;
      if (bytes > 400_000) process.stdout.write('busy\\n');
    });
    for (;;) await terminal.look();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, dir, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('adoption', () => {
  test('a daemon is killed amid output, and the next one sees what it would have seen', async () => {
    using rig = new HostRig();
    // A numbered, styled and scrolling output that stops by itself after the daemon has died.
    const script = `stty raw -echo; printf '\\033[?2004h\\033[3;20r'; i=0
      while [ $i -lt 20000 ]; do i=$((i+1)); printf '\\033[%dmline %d of many\\033[0m\\r\\n' $((31 + i % 7)) $i; done
      printf '\\033[r\\033[24;1Hover>'; exec cat -v`;
    const first = await daemon(rig.dir, script);
    await first.kill();
    await using host = await rig.connect();
    const [info] = await host.sessions();
    expect(info).toMatchObject({ sessionId: 'a', metadata: '{"name":"a"}', exit: null });
    const adopted = await host.adopt('a');
    expect(adopted.logOverran).toBe(false);
    expect(adopted.checkpoint?.offset).toBeGreaterThan(0);
    const terminal = await AgentTerminal.adopt({ adopted });
    const snapshot = await until(terminal, (now) => text(now).endsWith('over>'));
    using straight = new Screen({ cols: 80, rows: 24 });
    straight.feed('\u001b[?2004h\u001b[3;20r');
    for (let i = 1; i <= 20_000; i += 1)
      straight.feed(`\u001b[${31 + (i % 7)}mline ${i} of many\u001b[0m\r\n`);
    straight.feed('\u001b[r\u001b[24;1Hover>');
    const wanted = await straight.look();
    expect(snapshot.rows).toEqual(wanted.rows);
    expect(snapshot.modes).toEqual(wanted.modes);
    expect(snapshot.bytesParsed).toBe(wanted.bytesParsed);
    expect(terminal.isSameProcessAlive()).toBe(true);
    terminal.personInput('works on');
    await until(terminal, (now) => text(now).endsWith('over>works on'));
    await terminal.close();
  });

  test('a released program works on, and its screen comes back', async () => {
    using rig = new HostRig();
    const before = await rig.connect();
    const terminal = await launch(before, echoing);
    await until(terminal, (now) => text(now) === 'ready>');
    const { identity } = terminal;
    await terminal.release();
    await before[Symbol.asyncDispose]();
    expect(isSameProcess(identity)).toBe(true);
    await using host = await rig.connect();
    expect(host.pid).toBe(before.pid);
    const adopted = await host.adopt('a');
    expect(adopted.endpoint.identity).toEqual(identity);
    expect(adopted.log.parts).toEqual([]);
    const again = await AgentTerminal.adopt({ adopted });
    expect(text(await again.look())).toBe('ready>');
    expect(again.screenCertain).toBe(true);
    await again.close();
  });

  test('the replay answers nothing a second time', async () => {
    using rig = new HostRig();
    const before = await rig.connect();
    const terminal = await launch(before, `stty raw -echo; printf 'a\\033[6n'; exec cat -v`);
    await until(terminal, (now) => text(now) === 'a^[[1;2R');
    // Killed rather than released: no checkpoint, the whole log is replayed.
    await before[Symbol.asyncDispose]();
    await using host = await rig.connect();
    const again = await AgentTerminal.adopt({ adopted: await host.adopt('a') });
    again.personInput('b');
    const snapshot = await until(again, (now) => text(now).endsWith('b'));
    expect(text(snapshot)).toBe('a^[[1;2Rb');
    await again.close();
  });

  test('sizes have their place in the log', async () => {
    using rig = new HostRig();
    const before = await rig.connect();
    const terminal = await launch(before, echoing);
    await until(terminal, (now) => text(now) === 'ready>');
    terminal.resize(40, 10);
    terminal.personInput('x'.repeat(50));
    const snapshot = await until(terminal, (now) => text(now).endsWith('x'));
    await before[Symbol.asyncDispose]();
    await using host = await rig.connect();
    const adopted = await host.adopt('a');
    expect([adopted.log.cols, adopted.log.rows]).toEqual([80, 24]);
    const again = await AgentTerminal.adopt({ adopted });
    expect([again.cols, again.rows]).toEqual([40, 10]);
    const last = await until(again, (now) => text(now).length === text(snapshot).length);
    expect(last.rows).toEqual((await terminal.look().catch(() => snapshot)).rows);
    await again.close();
  });

  test('where the log ran over the program is made to paint, and not read before', async () => {
    using rig = new HostRig();
    const before = await rig.connect();
    const script = `trap 'printf "\\033[H\\033[2Jpainted at $(stty size)"' WINCH
      printf '\\033[?2004hready'; read x
      head -c 3000000 /dev/zero | tr '\\0' x; printf end > "$1"; while :; do read x; done`;
    const flag = `${rig.dir}/flag`;
    const { spawnSync } = await import('node:child_process');
    spawnSync('mkfifo', [flag]);
    const endpoint = await before.spawn({ ...shell(script), args: ['-c', script, 'sh', flag] });
    const terminal = new AgentTerminal({ endpoint });
    await until(terminal, (now) => text(now).endsWith('ready'));
    await endpoint.write(Buffer.from('\n'));
    await before[Symbol.asyncDispose]();
    const { readFile } = await import('node:fs/promises');
    expect(await readFile(flag, 'utf8')).toBe('end');
    await using host = await rig.connect();
    const adopted = await host.adopt('a');
    expect(adopted.logOverran).toBe(true);
    const again = await AgentTerminal.adopt({ adopted });
    expect(again.screenCertain).toBe(false);
    expect((await again.look()).modes.synchronizedOutput).toBe(true);
    const snapshot = await until(again, (now) => !now.modes.synchronizedOutput);
    expect(text(snapshot)).toBe('painted at 24 80');
    expect(snapshot.modes.bracketedPaste).toBe(true);
    expect(again.screenCertain).toBe(true);
    await again.close();
  });

  test('an exit that nobody saw is kept, with the last screen, until it is fetched', async () => {
    using rig = new HostRig();
    const before = await rig.connect();
    const terminal = await launch(before, `printf 'ready>'; read x; printf 'bye'; exit 3`);
    await until(terminal, (now) => text(now) === 'ready>');
    const typed = terminal.personInput('\r');
    if (typed.kind === 'passed_on') await typed.written;
    await before[Symbol.asyncDispose]();
    await using host = await rig.connect();
    const adopted = await host.adopt('a');
    const again = await AgentTerminal.adopt({ adopted });
    await new Promise<void>((resolve) => again.onExit(() => resolve()));
    expect(again.exit).toMatchObject({ exitCode: 3, signal: null });
    expect(text(await again.look())).toContain('bye');
    await again.close();
    expect(await host.sessions()).toEqual([]);
  });

  test('an observer sees the sessions and takes nothing over', async () => {
    using rig = new HostRig();
    await using host = await rig.connect();
    const terminal = await launch(host, echoing);
    expect(await observeHost(rig.dir, 'main')).toMatchObject([{ sessionId: 'a' }]);
    expect(await observeHost(rig.dir, 'other')).toBe(null);
    expect(host.lost).toBe(null);
    await terminal.close();
  });
});
