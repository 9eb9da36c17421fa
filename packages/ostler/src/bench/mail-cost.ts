import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Mailbox } from '@ostler/mailbox';
import { keepAliveClock, randomIds, systemClock } from '@ostler/runtime';
import { openSharedFile } from '@ostler/store/sqlite';
import { mailDoors } from '../cli/mail/verbs.js';
import { type Spread, spreadOf } from './statistics.js';

export interface MailCost {
  /** A saved request, milliseconds; on the disk when it returns. */
  readonly saveMs: Spread | null;
  /** One prepared INSERT of the same row between BEGIN IMMEDIATE and COMMIT, as durable. */
  readonly bareMs: Spread | null;
  readonly savesPerSecond: number;
  readonly baresPerSecond: number;
  /** Saves a second over bare inserts a second. */
  readonly ratio: number;
  /** From a commit of ours to the answer of `wait` in another process, its line through a pipe included. */
  readonly wakeMs: Spread | null;
  /** The same where a program that speaks plain SQL commits, which gives no sign. */
  readonly foreignWakeMs: Spread | null;
}

const blocksCount = 12;
const blockCount = 50;
const wakesCount = 50;
/** Long enough for the waiter's looks after the last event to be over. */
const quietMs = 300;
const body = 'Which case of the reader is not covered by a test yet? '.repeat(4);
const sessions = {
  alice: '11111111-1111-4111-8111-111111111111',
  bob: '22222222-2222-4222-8222-222222222222',
} as const;
const waiterProgram = fileURLToPath(new URL('mail-waiter-main.js', import.meta.url));
const insertSql = `INSERT INTO messages (id, sender, recipient, in_reply_to, body, created_at, submission)
  VALUES (?, ?, ?, ?, ?, ?, 'not_submitted')`;

/** Saves and waits of the mailbox, on a disk of this machine. */
export async function measureMail(say: (what: string) => void): Promise<MailCost> {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-bench-mail-'));
  try {
    say('the mailbox: saves');
    const saves = await measureSaves(dir);
    say('the mailbox: waits');
    const wakes = await measureWakes(join(dir, 'wake', 'mail.sqlite3'), dir);
    return { ...saves, ...wakes };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

type Saves = Omit<MailCost, 'wakeMs' | 'foreignWakeMs'>;

/** In turns, so that both meet the same disk; each in a file of its own, made alike. */
async function measureSaves(dir: string): Promise<Saves> {
  using ours = openMailbox(join(dir, 'ours', 'mail.sqlite3'), dir);
  const barePath = join(dir, 'bare', 'mail.sqlite3');
  openMailbox(barePath, dir)[Symbol.dispose]();
  using bare = bareWriter(barePath);
  const saveMs: number[] = [];
  const bareMs: number[] = [];
  const save = async (): Promise<void> =>
    void (await ours.send('alice', 'bob', body, { notify: false }));
  for (let block = 0; block <= blocksCount; block += 1) {
    const [saved, inserted] = [[], []] as [number[], number[]];
    for (let index = 0; index < blockCount; index += 1) saved.push(await timed(save));
    for (let index = 0; index < blockCount; index += 1) {
      inserted.push(await timed(() => bare.insert(null)));
    }
    // The first block warms up.
    if (block === 0) continue;
    saveMs.push(...saved);
    bareMs.push(...inserted);
  }
  const savesPerSecond = perSecond(saveMs);
  const baresPerSecond = perSecond(bareMs);
  return {
    saveMs: spreadOf(saveMs),
    bareMs: spreadOf(bareMs),
    savesPerSecond,
    baresPerSecond,
    ratio: savesPerSecond / baresPerSecond,
  };
}

async function measureWakes(
  path: string,
  dir: string,
): Promise<Pick<MailCost, 'wakeMs' | 'foreignWakeMs'>> {
  using mailbox = openMailbox(path, dir);
  using foreign = bareWriter(path);
  using waiter = new Waiter(path, 'alice');
  const wakes: number[] = [];
  const foreignWakes: number[] = [];
  for (let index = 0; index < wakesCount; index += 1) {
    for (const kind of ['ours', 'foreign'] as const) {
      const { message } = await mailbox.send('alice', 'bob', body, { notify: false });
      await waiter.waitFor(message.id);
      await pause(quietMs);
      const awake = waiter.awake();
      let committedMs = 0;
      const onSaved = (): void => {
        committedMs = systemClock.monotonicMs();
      };
      if (kind === 'ours') {
        await mailbox.reply('bob', message.id, body, { notify: false, onSaved });
      } else {
        foreign.insert(message.id);
        onSaved();
      }
      const awakeMs = await awake;
      (kind === 'ours' ? wakes : foreignWakes).push(awakeMs - committedMs);
    }
  }
  return { wakeMs: spreadOf(wakes), foreignWakeMs: spreadOf(foreignWakes) };
}

function openMailbox(path: string, workspace: string): Mailbox {
  mkdirSync(workspace, { recursive: true });
  const mailbox = new Mailbox({ path, doors: mailDoors(process.env) });
  for (const [name, sessionId] of Object.entries(sessions)) {
    mailbox.addPeer({ name, harness: 'codex', sessionId, workspace });
  }
  return mailbox;
}

interface BareWriter extends Disposable {
  /** Null: a request of alice's; else bob's answer to it. */
  insert(inReplyTo: string | null): void;
}

/** SQLite and nothing else, as durable: a write-ahead log that is on the disk at each commit. */
function bareWriter(path: string): BareWriter {
  const database = openSharedFile({
    path,
    clock: systemClock,
    schema: '',
    schemaVersion: 1,
    inspect: () => 'complete',
  });
  const begin = database.prepare('BEGIN IMMEDIATE');
  const insert = database.prepare(insertSql);
  const commit = database.prepare('COMMIT');
  database.prepare('PRAGMA synchronous = FULL').run();
  return {
    insert(inReplyTo) {
      const [sender, recipient] = inReplyTo === null ? ['alice', 'bob'] : ['bob', 'alice'];
      begin.run();
      const atSeconds = systemClock.nowMs() / 1000;
      insert.run(randomIds.uuid(), sender ?? '', recipient ?? '', inReplyTo, body, atSeconds);
      commit.run();
    },
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

/** `wait` in a process of its own. */
class Waiter implements Disposable {
  readonly #child: ChildProcess;
  #took: (line: string) => void = () => undefined;

  constructor(path: string, actor: string) {
    this.#child = spawn(process.execPath, [waiterProgram, path, actor], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new TypeError('the process has no stdout');
    createInterface({ input: stdout }).on('line', (line) => this.#took(line));
  }

  /** Resolves once it waits. */
  async waitFor(id: string): Promise<void> {
    const waits = this.#line();
    this.#child.stdin?.write(`${id}\n`);
    await waits;
  }

  /** When it said that it is awake. */
  async awake(): Promise<number> {
    const ended = await this.#line();
    const atMs = systemClock.monotonicMs();
    if (ended !== 'reply') throw new Error(`the wait ended by ${ended}`);
    return atMs;
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }

  async #line(): Promise<string> {
    return await new Promise<string>((resolve, reject) => {
      const gone = (): void => reject(new Error('the waiting process ended'));
      this.#child.once('exit', gone);
      this.#took = (line) => {
        this.#child.off('exit', gone);
        resolve(line);
      };
    });
  }
}

async function timed(act: () => void | Promise<void>): Promise<number> {
  const beganMs = systemClock.monotonicMs();
  await act();
  return systemClock.monotonicMs() - beganMs;
}

function perSecond(eachMs: readonly number[]): number {
  return (eachMs.length * 1_000) / eachMs.reduce((sum, each) => sum + each, 0);
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void keepAliveClock.setTimer(ms, resolve));
