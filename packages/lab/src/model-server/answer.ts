import type { Clock } from '@ostler/runtime';
import type { Holds } from './holds.js';
import type { AnswerWriter, ModelRequest } from './model-request.js';
import type { ModelStep } from './script.js';
import { isToolStep, type ScriptProgram } from './script-program.js';

export interface AnswerChannel {
  readonly writer: AnswerWriter;
  /** Sends the response's head; called once, before the writer is used. */
  open(): void;
  /** Answers with an HTTP status instead. */
  refuse(status: number, message: string): void;
  /** Cuts the connection. */
  cut(): void;
}

/** Carries out one request's steps up to its first tool call, or to their end. */
export async function answer(options: {
  request: ModelRequest;
  program: ScriptProgram;
  holds: Holds;
  clock: Clock;
  channel: AnswerChannel;
  signal: AbortSignal;
}): Promise<void> {
  const { request, program, holds, clock, channel, signal } = options;
  const steps = program.stepsFor(request);
  let opened = false;
  let spoken = false;
  const open = (): void => {
    if (opened) return;
    opened = true;
    channel.open();
    channel.writer.begin();
  };
  if (!failsBeforeItSpeaks(steps)) open();
  for (const [position, step] of steps.entries()) {
    if (signal.aborted) return;
    if (isToolStep(step)) {
      open();
      spoken = true;
      channel.writer.call(program.call(step, steps.slice(position + 1), request));
      break;
    }
    switch (step.do) {
      case 'think':
        await pause(clock, step.ms, signal);
        break;
      case 'hold':
        await holds.wait(step.name, signal);
        break;
      case 'say':
        open();
        spoken = true;
        await say(step, channel.writer, clock, signal);
        break;
      case 'fail':
        if (opened) channel.writer.error(step.message);
        else channel.refuse(step.status, step.message);
        return;
      case 'cut':
        channel.cut();
        return;
    }
  }
  if (signal.aborted) return;
  open();
  // An answer without anything visible makes engines ask again.
  if (!spoken) channel.writer.text('Done.');
  channel.writer.end();
}

function failsBeforeItSpeaks(steps: readonly ModelStep[]): boolean {
  const first = steps.find((step) => step.do !== 'think' && step.do !== 'hold');
  return first?.do === 'fail' || first?.do === 'cut';
}

async function say(
  step: Extract<ModelStep, { do: 'say' }>,
  writer: AnswerWriter,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const points = [...step.text];
  const size = step.chunkChars ?? Math.max(1, points.length);
  for (let from = 0; from < points.length && !signal.aborted; from += size) {
    writer.text(points.slice(from, from + size).join(''));
    if (step.chunkDelayMs > 0) await pause(clock, step.chunkDelayMs, signal);
  }
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
