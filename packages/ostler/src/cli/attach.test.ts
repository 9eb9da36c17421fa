import { once } from 'node:events';
import { join } from 'node:path';
import { type PtyEndpoint, spawnPty } from '@ostler/terminal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliWorld, main } from './testing/cli-world.js';

let world: CliWorld;

beforeEach(async () => {
  world = new CliWorld();
  await world.up('--log-level', 'silent');
  await world.run(['run', 'one', '--engine', 'simulated', '--detach']);
});
afterEach(() => world[Symbol.asyncDispose]());

/** A person at a terminal, in whose shell `ostler` runs. */
class Person {
  seen = '';
  readonly #pty: PtyEndpoint;
  readonly #exited: Promise<number | null>;
  #look: () => void = () => undefined;

  private constructor(pty: PtyEndpoint) {
    this.#pty = pty;
    this.#exited = new Promise((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
    pty.onData((data) => {
      this.seen += Buffer.from(data).toString('latin1');
      this.#look();
    });
  }

  static async runs(...args: readonly string[]): Promise<Person> {
    const pty = await spawnPty({
      file: process.execPath,
      args: [main, ...args],
      env: world.env,
      cwd: world.stateDir,
      cols: 90,
      rows: 20,
    });
    return new Person(pty);
  }

  /** Runs a script with job control, as a shell that a person types into does. */
  static async shell(script: string): Promise<Person> {
    const { env, stateDir: cwd } = world;
    const args = ['-mc', script];
    return new Person(await spawnPty({ file: 'bash', args, env, cwd, cols: 90, rows: 20 }));
  }

  async sees(what: RegExp): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#look = () => {
        if (what.test(this.seen)) resolve();
      };
      this.#look();
    });
  }

  async types(keys: string): Promise<void> {
    await this.#pty.write(Buffer.from(keys));
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  exited(): Promise<number | null> {
    return this.#exited;
  }
}

const paintedMark = /\u001b\[\?7l/;
const restored = /\u001b\[\?1049l/;

test('keys reach the agent, the size follows, and Ctrl-] leaves it running', async () => {
  const person = await Person.runs('attach', 'one');
  await person.sees(/Ctrl-\] detaches/);
  await person.sees(paintedMark);
  await person.types('typed by hand');
  await person.sees(/typed by hand/);
  person.resize(70, 24);
  await person.types(' zqz');
  await person.sees(/zqz/);
  await person.types('\u001d');
  expect(await person.exited()).toBe(0);
  expect(person.seen).toMatch(restored);
  expect(person.seen).toContain('detached from one');
  const file = join(world.stateDir, 'after.cast');
  expect(await world.json('record', 'one', file, '--for', '0')).toMatchObject({
    cols: 70,
    rows: 24,
  });
});

test('what is typed early arrives, and another key may detach', async () => {
  const person = await Person.runs('attach', 'one', '--detach-key', 'ctrl-a');
  await person.sees(/Ctrl-A detaches/);
  await person.types('typed early');
  await person.sees(/typed early/);
  await person.types('\u0001');
  expect(await person.exited()).toBe(0);
  expect(person.seen).toContain('detached from one');
});

test('who only looks types nothing', async () => {
  const person = await Person.runs('attach', 'one', '--read-only');
  await person.sees(paintedMark);
  await person.types('not typed\u001d');
  expect(await person.exited()).toBe(0);
  expect(person.seen).not.toContain('not typed');
});

test("an agent's end is said, and the terminal put back", async () => {
  const person = await Person.runs('attach', 'one');
  await person.sees(paintedMark);
  await world.run(['close', 'one']);
  expect(await person.exited()).toBe(0);
  expect(person.seen).toMatch(restored);
  expect(person.seen).toContain('one has ended');
});

test('a killed daemon is said, the terminal put back, and the agent found again', async () => {
  const person = await Person.runs('attach', 'one');
  await person.sees(paintedMark);
  const { daemon } = world;
  if (!daemon) throw new Error('there is a daemon');
  const gone = once(daemon, 'exit');
  daemon.kill('SIGKILL');
  await gone;
  expect(await person.exited()).toBe(3);
  expect(person.seen).toMatch(restored);
  expect(person.seen).toContain('ostler up');
  await world.up('--log-level', 'silent');
  expect(await world.json('agents')).toMatchObject({ agents: [{ name: 'one' }] });
});

test('the modes of the terminal are as before, whichever way it ends', async () => {
  const person = await Person.shell(
    `stty -g; '${process.execPath}' '${main}' attach one & echo "viewer $!"; fg; echo; echo "ended $?"; stty -g`,
  );
  await person.sees(paintedMark);
  const viewer = Number(/viewer (\d+)/.exec(person.seen)?.[1]);
  process.kill(viewer, 'SIGTERM');
  await person.exited();
  const modes = person.seen.match(/^[0-9a-f]+(?::[0-9a-f]+){3,}/gm);
  expect(modes).toHaveLength(2);
  expect(modes?.[1]).toBe(modes?.[0]);
  expect(person.seen).toMatch(restored);
});
