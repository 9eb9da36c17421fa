import type { EngineReader, OpenQuestion, Reading } from '@ostler/engines';
import type { ModelRule } from './plan.js';
import { type View, viewOf } from './view.js';

const busyModes = {
  steering: 'steering',
  native_queue: 'native_queue',
  merging: 'native_input',
  daemon_queue: 'daemon_queue',
} as const satisfies Record<ModelRule, EngineReader['busyMode']>;

export const escapeKey = '\u001b';
export const eraseKey = '\u0015';

/** Reads a model engine's screen; it tells what is shown, never what is true. */
export function modelReader(rule: ModelRule): EngineReader {
  return {
    engine: 'model',
    version: '1',
    busyMode: busyModes[rule],
    read: (snapshot) => readView(viewOf(snapshot)),
    prepareBody: (text) =>
      text.startsWith('/')
        ? { kind: 'refused', reason: 'slash_command', message: 'it would run as a command' }
        : { kind: 'ready', body: { frames: framesOf(text), text } },
    matchDraft: (reading, { text }) => {
      if (!reading.composer) return 'other';
      const { draft } = reading.composer;
      if (draft === '') return 'empty';
      if (draft === text) return 'exact';
      return text.startsWith(draft) ? 'partial' : 'other';
    },
    fingerprint: (text) => text.trim(),
    stopKeys: ({ readable, hold, busy }) => (readable && busy && hold === null ? escapeKey : null),
    eraseKeys: () => eraseKey,
    planAnswer: (question) => ({
      kind: 'ready',
      steps: [
        {
          keys: '1',
          settled: (reading) =>
            reading.readable && reading.question?.fingerprint !== question.fingerprint,
        },
      ],
    }),
  };
}

/** Long texts go out in several frames of one write, as with the real engines. */
function framesOf(text: string): string[] {
  const frames = text.match(/[\s\S]{1,24}/gu);
  return frames ?? [text];
}

function readView(view: View): Reading {
  const { readable, draft, ghost, hold, dialog, busy, queue } = view;
  return {
    readable,
    composer:
      draft === null
        ? null
        : {
            draft,
            rows: draft.split('\n'),
            ghost: draft === '' ? ghost : null,
            collapsed: [],
            hiddenRows: { above: 0, below: 0 },
          },
    hold,
    busy,
    queue,
    question: dialog?.kind === 'question' ? questionOf(dialog.number) : null,
    signals: view.stashed ? [{ source: 'stash', value: 'draft stashed', atMs: 0 }] : [],
  };
}

function questionOf(number: number): OpenQuestion {
  const text = `Which way, asked as number ${number}?`;
  return {
    fingerprint: `question ${number}`,
    prompts: [{ header: null, text, options: ['left', 'right'], multiSelect: false }],
  };
}
