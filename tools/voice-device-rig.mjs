// For voice-device.test.mjs: a daemon, an agent that writes down what it was given, the device, and a
// relay between device and daemon that can lose what passes through it.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from './root.mjs';

const run = promisify(execFile);
const main = 'packages/ostler/bin/ostler.js';
export const deviceProgram = 'docs/examples/python/voice_device';
const engines = 'packages/daemon/conformance/simulated-engine.mjs';
// No caches of Python's beside the example.
const quiet = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };

export function hasPython() {
  try {
    execFileSync('python3', ['--version']);
    return true;
  } catch {
    return false;
  }
}

/** What passes until `agents.list_result`, behind which the request or its answer can be lost. */
const listed = '"agents.list_result"';

/** Between device and daemon. `lose`: 'nothing', 'requests' or 'answers' behind the list, or 'everything'. */
class Relay {
  lose = 'nothing';
  target = null;
  #sockets = new Set();
  #asked = '';
  #waiting = [];
  #server = createServer((device) => this.#join(device));

  async listen(where) {
    this.#server.listen(where);
    await once(this.#server, 'listening');
    return this.#server.address();
  }

  /** Resolves when the device is connected, or when something of it was lost. */
  async next(event) {
    await new Promise((resolve) => {
      this.#waiting.push({ event, resolve });
    });
  }

  /** How often the device asked for a turn, lost requests included. */
  sends() {
    return this.#asked.split('"type": "turn.send"').length - 1;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #join(device) {
    const daemon = connect(this.target);
    for (const [one, other] of [
      [device, daemon],
      [daemon, device],
    ]) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    let seen = '';
    device.on('data', (data) => {
      this.#asked += data.toString('latin1');
      const cut = this.lose === 'requests' && seen.includes(listed);
      if (this.lose === 'everything' || cut) this.#tell('lost');
      else daemon.write(data);
    });
    daemon.on('data', (data) => {
      const cut = this.lose === 'answers' && seen.includes(listed);
      seen += data.toString('latin1');
      if (cut) this.#tell('lost');
      else device.write(data);
    });
    this.#tell('connected');
  }

  #tell(event) {
    for (const { resolve } of this.#waiting.filter((each) => each.event === event)) resolve();
    this.#waiting = this.#waiting.filter((each) => each.event !== event);
  }
}

export class Rig {
  stateDir = mkdtempSync(join(tmpdir(), 'ostler-voice-'));
  truth = join(this.stateDir, 'truth.jsonl');
  outbox = join(this.stateDir, 'outbox.db');
  relay = new Relay();
  ready = null;
  #daemon = null;
  #children = new Set();
  #address = null;
  #kind;
  #flags;

  constructor(kind, flags = []) {
    this.#kind = kind;
    this.#flags = flags;
  }

  async start() {
    if (this.#kind === 'unix') {
      this.#address = join(this.stateDir, 'relay.sock');
      await this.relay.listen(this.#address);
    } else {
      const { port } = await this.relay.listen({ host: '127.0.0.1', port: 0 });
      this.#address = `${this.#kind}://localhost:${port}`;
      this.#flags.push('--allow-host', `localhost:${port}`);
    }
    await this.up();
    if (this.#kind !== 'unix') await this.#pair();
  }

  async up() {
    const listen = ['--listen', '127.0.0.1:0', ...this.#flags];
    const flags = ['--engine-module', engines, '--log-level', 'silent', '--json', ...listen];
    this.#daemon = this.#keep(
      spawn(process.execPath, [main, 'up', '--state-dir', this.stateDir, ...flags], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const [line] = await once(createInterface({ input: this.#daemon.stdout }), 'line');
    this.ready = JSON.parse(line);
    const port = Number(this.ready.listen.split(':').at(-1));
    this.relay.target =
      this.#kind === 'unix' ? { path: this.ready.socket } : { host: '127.0.0.1', port };
  }

  async killDaemon() {
    const gone = once(this.#daemon, 'exit');
    this.#daemon.kill('SIGKILL');
    await gone;
  }

  async ostler(...args) {
    const { stdout } = await run(process.execPath, [main, ...args, '--state-dir', this.stateDir], {
      cwd: root,
    });
    return stdout;
  }

  /** An agent named `one` that does what the script says. */
  async agent(script) {
    const args = ['--truth', this.truth, '--script-json', JSON.stringify(script)];
    const name = ['run', 'one', '--engine', 'simulated', '--detach', '--state-dir', this.stateDir];
    await run(process.execPath, [main, ...name, '--', process.execPath, ...args], { cwd: root });
  }

  /** The texts the agent was given, as often as it was given them. */
  submitted() {
    const entries = readFileSync(this.truth, 'utf8').trim().split('\n').map(JSON.parse);
    return entries.filter(({ event }) => event === 'submitted').map(({ text }) => text);
  }

  /** The device, until it ends. `lines` grows; `ended` is its exit code. */
  device(...args) {
    const shared = [this.#address, '--outbox', this.outbox, '--reply-seconds', '8'];
    const child = this.#keep(
      spawn('python3', [deviceProgram, ...shared, ...args], {
        cwd: root,
        env: { ...quiet, ...this.#token },
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const lines = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const ended = once(child, 'close').then(([code]) => code);
    const kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    return { lines, ended, kill, says: () => lines.filter((line) => line.startsWith('says: ')) };
  }

  async close() {
    this.relay.close();
    await this.ostler('down', '--with-agents').catch(() => undefined);
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.stateDir, { recursive: true, force: true });
  }

  #token = {};

  async #pair() {
    const added = JSON.parse(await this.ostler('device', 'add', 'kitchen', '--json'));
    this.#token = { OSTLER_DEVICE_TOKEN: added.token };
  }

  #keep(child) {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }
}
