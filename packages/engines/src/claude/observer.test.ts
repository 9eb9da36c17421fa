import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLogger, systemClock } from '@ostler/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EngineEvent } from '../engine-event.js';
import { installHooks } from './hooks.js';
import { ClaudeObserver } from './observer.js';
import { statusPath, transcriptPath } from './paths.js';

const sessionId = '11111111-2222-4333-8444-555555555555';
const nextId = '66666666-7777-4888-8999-000000000000';
let directory = '';
let events: EngineEvent[] = [];
let wake: () => void = () => undefined;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "claude observer's "));
  events = [];
});
afterEach(() => rm(directory, { recursive: true }));

async function observe(): Promise<ClaudeObserver> {
  await installHooks(directory);
  await mkdir(path.dirname(transcript(sessionId)), { recursive: true });
  await mkdir(path.dirname(statusPath(configDir(), 4711)), { recursive: true });
  const env = { HOME: directory };
  return new ClaudeObserver({
    plan: { file: '/bin/claude', args: ['--session-id', sessionId], env, version: null },
    request: { args: [], cwd: directory, env, sessionDir: directory },
    process: { pid: 4711, startTime: null },
    launchedAtMs: systemClock.nowMs() - 1_000,
    clock: systemClock,
    logger: silentLogger,
    onEvent: (event) => {
      events.push(event);
      wake();
    },
  });
}

const configDir = (): string => path.join(directory, '.claude');
const transcript = (id: string): string => transcriptPath(configDir(), directory, id);

/** Resolves once an event of this kind, and with this text if any, has come. */
async function seen(kind: EngineEvent['kind'], text?: string): Promise<EngineEvent> {
  for (;;) {
    const found = events.find(
      (event) =>
        event.kind === kind && (text === undefined || ('text' in event && event.text === text)),
    );
    if (found) return found;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** Runs the installed hook as Claude Code does: a shell command with the event on its standard input. */
async function fireHook(event: object): Promise<string> {
  const { hooks } = JSON.parse(
    await readFile(path.join(directory, 'claude-settings.json'), 'utf8'),
  ) as { hooks: { UserPromptSubmit: [{ hooks: [{ command: string }] }] } };
  const [{ hooks: installed }] = hooks.UserPromptSubmit;
  const child = spawn('sh', ['-c', installed[0].command], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    said += data.toString();
  });
  child.stdin.end(JSON.stringify(event));
  await new Promise<void>((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`hook: ${code}`))));
  });
  return said;
}

const prompt = (uuid: string, text: string, atMs = systemClock.nowMs()): string =>
  `${JSON.stringify({
    type: 'user',
    uuid,
    parentUuid: null,
    timestamp: new Date(atMs).toISOString(),
    origin: { kind: 'human' },
    message: { role: 'user', content: text },
  })}\n`;

test('a hook says that an input was accepted, silently, and leaves nothing behind', async () => {
  await using _ = await observe();
  const said = await fireHook({ hook_event_name: 'UserPromptSubmit', prompt: "it's “quoted”\n$x" });
  expect(said).toBe('');
  expect(await seen('input_accepted')).toMatchObject({
    text: "it's “quoted”\n$x",
    evidence: 'hook',
  });
  await seen('input_accepted');
  expect(await readdir(path.join(directory, 'claude-hooks'))).toEqual([]);
});

test('the transcript says that it was consumed, from launch on', async () => {
  await mkdir(path.dirname(transcript(sessionId)), { recursive: true });
  await writeFile(transcript(sessionId), prompt('old', 'from before', 0));
  await using _ = await observe();
  await appendFile(transcript(sessionId), prompt('u1', 'hello'));
  expect(await seen('input_consumed')).toMatchObject({ text: 'hello', inputRef: 'u1' });
  expect(events.flatMap((event) => ('text' in event ? [event.text] : []))).toEqual(['hello']);
});

test('an end that nothing follows is told once the engine is at rest', async () => {
  await using _ = await observe();
  const answer = {
    type: 'assistant',
    uuid: 'a1',
    parentUuid: 'u1',
    timestamp: new Date(systemClock.nowMs()).toISOString(),
    message: { id: 'm1', stop_reason: 'end_turn', content: [{ type: 'text', text: 'Hi.' }] },
  };
  await appendFile(transcript(sessionId), `${prompt('u1', 'hello')}${JSON.stringify(answer)}\n`);
  await seen('turn_text', 'Hi.');
  expect(events.some((event) => event.kind === 'turn_ended')).toBe(false);
  await writeFile(statusPath(configDir(), 4711), JSON.stringify({ sessionId, status: 'idle' }));
  expect(await seen('turn_ended')).toMatchObject({ inputRefs: ['u1'], finalText: 'Hi.' });
});

test('after /clear the new transcript is followed, what stands in it already included', async () => {
  await using observer = await observe();
  expect(observer.sessionId()).toBe(sessionId);
  await appendFile(transcript(sessionId), prompt('u1', 'before'));
  await seen('input_consumed', 'before');
  await writeFile(transcript(nextId), prompt('u2', 'early'));
  await fireHook({
    hook_event_name: 'SessionStart',
    source: 'clear',
    session_id: nextId,
    transcript_path: transcript(nextId),
  });
  expect(await seen('record_rotated')).toMatchObject({ path: transcript(nextId) });
  expect(observer.sessionId()).toBe(nextId);
  await seen('input_consumed', 'early');
  await appendFile(transcript(nextId), prompt('u3', 'late'));
  await seen('input_consumed', 'late');
});

test('without a hook the status file tells of the other session', async () => {
  await using observer = await observe();
  await writeFile(transcript(nextId), prompt('u2', 'early'));
  await writeFile(
    statusPath(configDir(), 4711),
    JSON.stringify({
      sessionId: nextId,
      cwd: directory,
      status: 'waiting',
      waitingFor: 'permission prompt',
    }),
  );
  await seen('record_rotated');
  await seen('input_consumed', 'early');
  expect(observer.signals()).toMatchObject([
    { source: 'status_file', value: 'waiting: permission prompt' },
  ]);
});

test('nothing is told after disposal', async () => {
  const observer = await observe();
  await observer[Symbol.asyncDispose]();
  await observer[Symbol.asyncDispose]();
  await appendFile(transcript(sessionId), prompt('u1', 'hello'));
  await fireHook({ hook_event_name: 'UserPromptSubmit', prompt: 'x' });
  expect(events).toEqual([]);
});
