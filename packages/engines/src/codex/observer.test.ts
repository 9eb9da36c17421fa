import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLogger, VirtualClock } from '@ostler/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { CodexObserver } from './observer.js';

const first = '01a22ea4-0000-7000-8000-000000000001';
const second = '01a22ea4-0000-7000-8000-000000000002';

let home: string;
let engine: ChildProcess;
const observers: CodexObserver[] = [];

/** A stand-in for the engine: a shell whose child opens and writes the files it is told to. */
const holder = `
process.stdin.on('data', (text) => {
  for (const line of String(text).split('\\n').filter(Boolean)) {
    const { file, append } = JSON.parse(line);
    const fs = require('node:fs');
    const open = (globalThis.open ??= {});
    open[file] ??= fs.openSync(file, 'a');
    fs.writeSync(open[file], append);
    process.stdout.write('done\\n');
  }
});`;

beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'codex-home-'));
  fs.mkdirSync(path.join(home, 'thread-writer-locks'), { recursive: true });
  engine = spawn('/bin/sh', ['-c', `"$0" -e "$1"; true`, process.execPath, holder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
});

afterEach(async () => {
  for (const observer of observers.splice(0)) await observer[Symbol.asyncDispose]();
  engine.stdin?.end();
  engine.kill('SIGKILL');
  fs.rmSync(home, { recursive: true });
});

function tell(file: string, append: string): Promise<void> {
  return new Promise((resolve) => {
    engine.stdout?.once('data', () => resolve());
    engine.stdin?.write(`${JSON.stringify({ file: path.join(home, file), append })}\n`);
  });
}

const lock = (thread: string): string => `thread-writer-locks/${thread}.lock`;

function rollout(thread: string): string {
  const directory = 'sessions/2027/01/15';
  fs.mkdirSync(path.join(home, directory), { recursive: true });
  return `${directory}/rollout-2027-01-15T08-00-00-${thread}.jsonl`;
}

function line(clock: VirtualClock, type: string, payload: object, shiftMs = 0): string {
  const timestamp = new Date(clock.nowMs() + shiftMs).toISOString();
  return `${JSON.stringify({ timestamp, type, payload })}\n`;
}

function prompt(text: string): object {
  const content = [{ type: 'text', text }];
  return { type: 'item_completed', turn_id: 't', item: { type: 'UserMessage', id: text, content } };
}

function observe(clock: VirtualClock): { observer: CodexObserver; events: EngineEvent[] } {
  const events: EngineEvent[] = [];
  const env = { CODEX_HOME: home, PATH: '' };
  const observer = new CodexObserver({
    plan: { file: '/bin/sh', args: [], env, version: '0.169.0' },
    request: { args: [], cwd: home, env, sessionDir: home },
    process: { pid: engine.pid ?? 0, startTime: null },
    launchedAtMs: clock.nowMs(),
    clock,
    logger: silentLogger,
    onEvent: (event) => events.push(event),
  });
  observers.push(observer);
  return { observer, events };
}

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('the record its own processes hold open, then the next one', async () => {
  const clock = new VirtualClock();
  const { observer, events } = observe(clock);
  await tell(lock(first), '');
  await observer.catchUp();
  expect(observer.signals()).toMatchObject([{ source: 'thread', value: first }]);
  expect(observer.sessionId()).toBe(first);
  await tell(rollout(first), line(clock, 'session_meta', { id: first, thread_source: 'user' }));
  await tell(rollout(first), line(clock, 'event_msg', prompt('A')));
  await observer.catchUp();
  await tell(lock(second), '');
  await tell(rollout(second), line(clock, 'event_msg', prompt('B')));
  await observer.catchUp();
  expect(events.filter((event) => event.kind !== 'signals_changed')).toMatchObject([
    { kind: 'input_consumed', text: 'A', inputRef: 'A' },
    { kind: 'record_rotated', path: path.join(home, rollout(second)) },
    { kind: 'input_consumed', text: 'B' },
  ]);
  expect(observer.signals()).toMatchObject([{ value: second }]);
  // It holds two now: which of them its person types into is not told.
  expect(observer.sessionId()).toBeNull();
});

test.runIf(isLinux)('a thread the engine made for itself is not its session', async () => {
  const clock = new VirtualClock();
  const { observer } = observe(clock);
  await observer.catchUp();
  expect(observer.sessionId()).toBeNull();
  await tell(rollout(first), line(clock, 'session_meta', { id: first, thread_source: 'user' }));
  const helper = { id: second, thread_source: 'subagent' };
  await tell(rollout(second), line(clock, 'session_meta', helper));
  await observer.catchUp();
  expect(observer.sessionId()).toBe(first);
});

test.runIf(isLinux)('entries of before the launch and of others are not told', async () => {
  const clock = new VirtualClock();
  await tell(rollout(first), line(clock, 'event_msg', prompt('old'), -60_000));
  fs.writeFileSync(path.join(home, rollout(second)), line(clock, 'event_msg', prompt('other')));
  const { observer, events } = observe(clock);
  await observer.catchUp();
  await tell(rollout(first), line(clock, 'event_msg', prompt('new')));
  await observer.catchUp();
  expect(events.filter((event) => event.kind === 'input_consumed')).toMatchObject([
    { text: 'new' },
  ]);
});

test.runIf(isLinux)('a thread the engine made for itself is left out', async () => {
  const clock = new VirtualClock();
  const { observer, events } = observe(clock);
  const meta = line(clock, 'session_meta', { id: first, thread_source: 'subagent' });
  await tell(rollout(first), meta + line(clock, 'event_msg', prompt('inner')));
  await observer.catchUp();
  expect(events.filter((event) => event.kind === 'input_consumed')).toEqual([]);
});

test('disposal is idempotent and leaves no timer', async () => {
  const clock = new VirtualClock();
  const { observer } = observe(clock);
  await observer[Symbol.asyncDispose]();
  await observer[Symbol.asyncDispose]();
  expect(clock.nextDueMs()).toBeNull();
});
