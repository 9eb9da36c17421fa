import { describe, expect, test } from 'vitest';
import { simulatedEngine } from './engine.js';
import type { ScriptInput } from './script.js';
import { SimulatedSession } from './simulated-session.js';

async function open(
  script: ScriptInput = {},
  size?: { cols: number; rows: number },
): Promise<SimulatedSession> {
  const session = await SimulatedSession.open(script, size);
  await session.ready();
  return session;
}

const held: ScriptInput = { turns: [{ text: 'A', until: 'go' }], boundaryMs: null };

describe('composer', () => {
  test('an empty composer shows a ghost and no draft', async () => {
    for (const ghostStyle of ['dim', 'grey', 'late'] as const) {
      await using session = await open({ look: { ghostStyle, placeholder: 'Say something' } });
      const { reading } = await session.look();
      expect(reading).toMatchObject({ readable: true, hold: null, busy: false, queue: [] });
      expect(reading.composer).toMatchObject({ draft: '', ghost: 'Say something', collapsed: [] });
    }
  });

  test('typed and pasted text is a draft, wrapped at the width', async () => {
    await using session = await open({ look: { cursor: 'hardware' } }, { cols: 24, rows: 16 });
    const text = 'one two three four five six seven\nthe eighth 日本語 and 🙂';
    session.paste(text);
    const body = { frames: [text], text };
    const { reading, snapshot } = await session.until(
      (reading, snapshot) => session.reader.matchDraft(reading, body, snapshot) === 'exact',
    );
    expect(reading.composer?.rows.length).toBeGreaterThan(3);
    const longer = { frames: [`${text} more`], text: `${text} more` };
    expect(session.reader.matchDraft(reading, longer, snapshot)).toBe('partial');
    const different = { frames: ['something else'], text: 'something else' };
    expect(session.reader.matchDraft(reading, different, snapshot)).toBe('other');
  });

  test('a draft taller than the screen hides rows and counts them', async () => {
    await using session = await open({ look: { maxComposerRows: 4 } });
    const text = Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n');
    session.paste(text);
    const body = { frames: [text], text };
    const { reading } = await session.until(
      (reading, snapshot) => session.reader.matchDraft(reading, body, snapshot) === 'exact',
    );
    expect(reading.composer?.hiddenRows).toEqual({ above: 8, below: 0 });
    expect(reading.composer?.rows).toHaveLength(4);
  });

  test('a big paste collapses into a marker of its size, and is submitted whole', async () => {
    await using session = await open();
    const text = 'x'.repeat(1_500);
    session.paste(text);
    const { reading, snapshot } = await session.until(
      (reading) => reading.composer?.collapsed.length === 1,
    );
    expect(reading.composer?.collapsed[0]).toEqual({
      label: '[Pasted Content 1500 chars]',
      characters: 1_500,
      lines: null,
    });
    expect(session.reader.matchDraft(reading, { frames: [text], text }, snapshot)).toBe('exact');
    const shorter = text.slice(1);
    expect(session.reader.matchDraft(reading, { frames: [shorter], text: shorter }, snapshot)).toBe(
      'other',
    );
    session.type('\r');
    await session.control.waitFor('model_received');
    expect(session.control.received()).toEqual([{ text, count: 1 }]);
  });

  test('numbered markers count lines; text that looks like a marker is text', async () => {
    await using session = await open({
      look: { collapse: { characters: null, newlines: 2, style: 'numbered' } },
    });
    session.paste('[Pasted text #1 +3 lines]');
    const typed = await session.until((reading) => reading.composer?.draft !== '');
    expect(typed.reading.composer?.collapsed).toEqual([]);
    session.type('\u0015');
    session.paste('a\nb\nc\nd');
    const { reading } = await session.until((reading) => reading.composer?.collapsed.length === 1);
    expect(reading.composer?.collapsed[0]).toMatchObject({ characters: null, lines: 4 });
  });

  test("a person's draft at the start and a stash that comes back after a submit", async () => {
    await using session = await open({ draft: 'mine', stash: 'kept for later' });
    expect((await session.look()).reading.composer?.draft).toBe('mine');
    session.type('\r');
    await session.control.waitFor('submitted');
    await session.until((reading) => reading.composer?.draft === 'kept for later');
  });

  test('typing and clearing by the control channel, a new ghost', async () => {
    await using session = await open();
    await session.control.act({ do: 'type', text: 'by a person' });
    await session.until((reading) => reading.composer?.draft === 'by a person');
    await session.control.act({ do: 'clear' });
    await session.control.act({ do: 'ghost', text: 'try this next' });
    const { reading } = await session.until(
      (reading) => reading.composer?.ghost === 'try this next',
    );
    expect(reading.composer?.draft).toBe('');
  });

  test('keys take their time and the echo comes late', async () => {
    await using session = await open({ timing: { keyMs: 30, echoMs: 150 } });
    session.type('a');
    session.type('\r');
    await session.control.waitFor('submitted');
    const submittedAtMs = session.control.events.at(-1)?.atMs ?? 0;
    await session.until((reading) => reading.busy);
    expect((await session.look()).snapshot.atMs - submittedAtMs).toBeGreaterThan(60);
  });
});

describe('bracketed paste', () => {
  test('mode 2004 late: brackets before it are text and a newline submits', async () => {
    await using session = await open({ timing: { bracketedPasteMs: null } });
    expect((await session.look()).snapshot.modes.bracketedPaste).toBe(false);
    session.paste('one\rtwo');
    await session.control.waitFor('submitted');
    expect(session.control.events.some((event) => event.text === '[200~one')).toBe(true);
    await session.control.act({ do: 'bracketed_paste', on: true });
    const { snapshot } = await session.until((_, snapshot) => snapshot.modes.bracketedPaste);
    expect(snapshot.modes.bracketedPaste).toBe(true);
  });

  test('mode 2004 may come later than the composer', async () => {
    await using session = await open({ timing: { bracketedPasteMs: 150 } });
    const { snapshot } = await session.until((_, snapshot) => snapshot.modes.bracketedPaste);
    expect(session.reader.read(snapshot).readable).toBe(true);
    session.paste('one\ntwo');
    await session.until((reading) => reading.composer?.draft === 'one\ntwo');
  });

  test('a bracket inside a paste ends it and the rest is live keys', async () => {
    await using session = await open();
    session.type('\u001b[200~first\u001b[201~\rsecond');
    const submitted = await session.control.waitFor('submitted');
    expect(submitted.text).toBe('first');
    await session.until((reading) => reading.composer?.draft === 'second');
  });
});

describe('busy', () => {
  test('steering joins the running turn at a boundary', async () => {
    await using session = await open({ ...held, busyRule: 'steering' });
    session.type('A\r');
    await session.until((reading) => reading.busy);
    session.type('B\r');
    const queued = await session.until((reading) => reading.queue.length === 1);
    expect(queued.reading).toMatchObject({ busy: true, queue: ['B'] });
    expect(session.control.received()).toEqual([{ text: 'A', count: 1 }]);
    await session.control.act({ do: 'boundary' });
    await session.until((reading) => reading.queue.length === 0 && reading.busy);
    const turns = session.control.events.filter((event) => event.event === 'model_received');
    expect(turns.map(({ text, turn }) => [text, turn])).toEqual([
      ['A', 'turn-1'],
      ['B', 'turn-1'],
    ]);
    await session.control.release('go');
    await session.until((reading) => !reading.busy);
  });

  test('a native queue waits for the end, one turn each', async () => {
    await using session = await open({ ...held, busyRule: 'native_queue' });
    session.type('A\r');
    session.type('B\r');
    session.type('C\r');
    await session.until((reading) => reading.queue.length === 2);
    await session.control.release('go');
    const last = await session.control.waitFor(
      (event) => event.event === 'model_received' && event.text === 'C',
    );
    expect(last.turn).toBe('turn-3');
  });

  test('native input is taken and shown nowhere', async () => {
    await using session = await open({ ...held, busyRule: 'native_input' });
    session.type('A\r');
    session.type('B\r');
    await session.control.waitFor((event) => event.event === 'submitted' && event.text === 'B');
    const { reading } = await session.until((reading) => reading.composer?.draft === '');
    expect(reading.queue).toEqual([]);
    await session.control.release('go');
    await session.control.waitFor(
      (event) => event.text === 'B' && event.event === 'model_received',
    );
  });

  test('merging joins what waits into one message', async () => {
    await using session = await open({ ...held, busyRule: 'merging' });
    session.type('A\r');
    session.type('B\r');
    session.type('C\r');
    await session.until((reading) => reading.queue.length === 2);
    await session.control.release('go');
    await session.control.waitFor(
      (event) => event.event === 'turn_started' && event.turn === 'turn-2',
    );
    await session.until((reading) => reading.queue.length === 0);
    expect(session.control.received().map(({ text }) => text)).toEqual(['A', 'B\nC']);
  });

  test('a daemon queue engine ignores Enter while busy and keeps the draft', async () => {
    await using session = await open({ ...held, busyRule: 'daemon_queue' });
    session.type('A\r');
    await session.until((reading) => reading.busy);
    session.type('B\r');
    const ignored = await session.control.waitFor('enter_ignored');
    expect(ignored).toMatchObject({ why: 'busy', text: 'B' });
    await session.until((reading) => reading.composer?.draft === 'B');
  });

  test('all that waits may share one turn, and a turn may fail', async () => {
    await using session = await open({
      busyRule: 'native_queue',
      drain: 'all',
      boundaryMs: null,
      turns: [{ text: 'A', until: 'go', outcome: 'failed' }],
    });
    session.type('A\r');
    session.type('B\r');
    session.type('C\r');
    await session.until((reading) => reading.queue.length === 2);
    await session.control.release('go');
    expect(await session.control.waitFor('turn_ended')).toMatchObject({ how: 'failed' });
    const last = await session.control.waitFor(
      (event) => event.event === 'model_received' && event.text === 'C',
    );
    expect(last.turn).toBe('turn-2');
  });

  test('a version without a number does not tell its busy rule', async () => {
    await using session = await open({ version: 'nightly' });
    expect(session.plan.version).toBe('nightly');
    expect(session.reader.busyMode).toBe('native_input');
    expect(simulatedEngine.reader('1.0.0+merging').busyMode).toBe('daemon_queue');
    expect(simulatedEngine.reader(null).busyMode).toBe('native_input');
  });

  test('Escape stops the turn; Up takes the queue back', async () => {
    await using session = await open({ ...held, busyRule: 'native_queue' });
    session.type('A\r');
    session.type('B\r');
    const { reading } = await session.until((reading) => reading.queue.length === 1);
    session.type('\u001b[A');
    await session.until((reading) => reading.composer?.draft === 'B');
    session.type('\u0015');
    await session.until((reading) => reading.composer?.draft === '');
    expect(session.reader.stopKeys(reading)).toBe('\u001b');
    session.type('\u001b');
    const ended = await session.control.waitFor('turn_ended');
    expect(ended.how).toBe('cancelled');
    await session.until((reading) => !reading.busy);
    expect(session.reader.stopKeys((await session.look()).reading)).toBeNull();
  });
});

describe('dialogs', () => {
  test('each known dialog is a hold by name; Enter would answer it', async () => {
    await using session = await open();
    const holds = [
      'permission',
      'question',
      'menu',
      'trust',
      'update',
      'sign_in',
      'onboarding',
      'model_picker',
      'rewind',
      'transcript',
      'search',
    ] as const;
    for (const hold of holds) {
      await session.control.open(hold);
      const { reading } = await session.until((reading) => reading.hold === hold);
      expect(reading.composer).toBeNull();
      await session.control.close();
      await session.ready();
    }
    await session.control.open('permission');
    await session.until((reading) => reading.hold === 'permission');
    session.paste('yes');
    session.type('\r');
    const answered = await session.control.waitFor('dialog_answered');
    expect(answered).toMatchObject({ dialog: 'permission', option: 'Yes, run it' });
    const ignored = session.control.events.find((event) => event.event === 'bytes_ignored');
    expect(ignored?.text).toContain('yes');
  });

  test('a screen nobody knows is unreadable', async () => {
    await using session = await open();
    await session.control.open('unknown');
    const { reading } = await session.until((reading) => !reading.readable);
    expect(reading).toMatchObject({ composer: null, hold: null });
  });

  test("a dialog's words in the conversation are no hold", async () => {
    await using session = await open({ turns: [{ forMs: 1 }] });
    const lines = ['Enter to allow · Esc to refuse', '━'.repeat(40), ' › 1. Yes, run it'];
    await session.control.act({ do: 'output', lines });
    session.paste(lines.join('\n'));
    const { reading } = await session.until((reading) => reading.composer?.rows.length === 3);
    expect(reading).toMatchObject({ readable: true, hold: null });
  });

  test('dialogs open at their triggers: a paste, an Enter, a prompt, a release, a delay', async () => {
    await using session = await open({
      turns: [{ forMs: 5 }],
      plan: [
        { when: { on: 'paste', nth: 1 }, actions: [{ do: 'open', dialog: 'menu' }] },
        { when: { on: 'enter', nth: 1 }, actions: [{ do: 'open', dialog: 'permission' }] },
        { when: { on: 'prompt', text: 'third' }, actions: [{ do: 'open', dialog: 'update' }] },
        {
          when: { on: 'release', name: 'now' },
          afterMs: 5,
          actions: [{ do: 'open', dialog: 'trust' }],
        },
      ],
    });
    session.paste('first');
    await session.until((reading) => reading.hold === 'menu');
    await session.control.close();
    await session.until((reading) => reading.composer?.draft === 'first');
    session.type('\r');
    const eaten = await session.control.waitFor('dialog_answered');
    expect(eaten.dialog).toBe('permission');
    expect(session.control.received()).toEqual([]);
    session.type(' third\r');
    await session.until((reading) => reading.hold === 'update');
    await session.control.close();
    await session.control.release('now');
    await session.until((reading) => reading.hold === 'trust');
  });

  test('a dialog at the start, and one after a delay', async () => {
    await using session = await SimulatedSession.open({
      plan: [
        { when: { on: 'start' }, actions: [{ do: 'open', dialog: 'trust' }] },
        { when: { on: 'after', ms: 20 }, actions: [{ do: 'open', dialog: 'update' }] },
      ],
    });
    await session.until((reading) => reading.hold === 'trust');
    await session.control.waitFor((event) => event.dialog === 'update');
    await session.control.close();
    await session.until((reading) => reading.hold === 'update');
  });

  test('a turn does not end under an open dialog', async () => {
    await using session = await open({
      turns: [{ forMs: 10 }],
      plan: [{ when: { on: 'prompt' }, actions: [{ do: 'open', dialog: 'permission' }] }],
    });
    session.type('A\r');
    const { reading } = await session.until((reading) => reading.hold === 'permission');
    expect(reading.busy).toBe(true);
    await session.control.close();
    await session.control.waitFor('turn_ended');
    const order = session.control.events.map((event) => event.event);
    expect(order.indexOf('turn_ended')).toBeGreaterThan(order.indexOf('dialog_closed'));
  });

  test('a question is read and answered by the plan of keys', async () => {
    await using session = await open();
    await session.control.open({
      kind: 'question',
      title: 'Which way?',
      options: ['Left', 'Right'],
    });
    const { reading } = await session.until((reading) => reading.question !== null);
    const question = reading.question;
    if (!question) throw new Error('no question');
    expect(question.prompts[0]).toMatchObject({ text: 'Which way?', options: ['Left', 'Right'] });
    expect(session.reader.planAnswer(question, { way: 'Up' })).toMatchObject({ kind: 'refused' });
    const plan = session.reader.planAnswer(question, { way: 'Right' });
    if (plan.kind !== 'ready') throw new Error('refused');
    for (const step of plan.steps) {
      session.type(step.keys);
      await session.until((reading) => step.settled(reading));
    }
    expect(await session.control.waitFor('dialog_answered')).toMatchObject({ option: 'Right' });
  });
});

describe('Enter', () => {
  test('the first Enters are swallowed and the draft stays', async () => {
    await using session = await open({ swallowEnters: 2 });
    session.type('A\r\r');
    await session.control.waitFor((event) => event.why === 'swallowed', { from: 0 });
    const { reading } = await session.until((reading) => reading.composer?.draft === 'A');
    expect(reading.busy).toBe(false);
    session.type('\r');
    await session.control.waitFor('submitted');
  });

  test('a popup eats one Enter; a blank behind the word closes it', async () => {
    await using session = await open({ popups: [{ token: '@', enter: 'insert', insert: '.ts' }] });
    session.paste('see @file');
    await session.until((_, snapshot) => snapshot.rows.some((row) => row.text.includes('(popup)')));
    session.type('\r');
    expect(await session.control.waitFor('enter_ignored')).toMatchObject({ why: 'popup' });
    await session.until((reading) => reading.composer?.draft === 'see @file.ts');
    session.type('\u0015');
    const verdict = session.reader.prepareBody('see @file', (await session.look()).snapshot);
    if (verdict.kind !== 'ready') throw new Error('refused');
    session.paste(verdict.body.frames.join(''));
    session.type('\r');
    expect((await session.control.waitFor('submitted')).text).toBe('see @file');
  });

  test('a popup that comes late lets an early Enter through', async () => {
    await using session = await open({ popups: [{ token: '@', afterMs: 300 }] });
    session.type('see @file');
    session.type('\r');
    expect((await session.control.waitFor('submitted')).text).toBe('see @file');
  });

  test('commands run instead of being sent; the prepared body keeps them text', async () => {
    await using session = await open();
    session.type('/compact\r');
    expect((await session.control.waitFor('command_run')).text).toBe('/compact');
    const { snapshot } = await session.look();
    for (const text of ['/compact now', '!ls', 'ends with \\']) {
      const verdict = session.reader.prepareBody(text, snapshot);
      if (verdict.kind !== 'ready') throw new Error('refused');
      session.paste(verdict.body.frames.join(''));
      session.type('\r');
      await session.control.waitFor((event) => event.event === 'submitted' && event.text === text);
    }
    expect(session.reader.prepareBody(' quit ', snapshot)).toMatchObject({
      kind: 'refused',
      reason: 'quits_engine',
    });
  });
});

describe('life', () => {
  test('a slow start is unreadable, and early input stays a draft', async () => {
    await using session = await SimulatedSession.open({ timing: { startMs: 250 } });
    await session.until(
      (reading, snapshot) => snapshot.rows[0]?.text === 'Starting…' && !reading.readable,
    );
    session.type('early\r');
    await session.control.waitFor('bytes_ignored');
    await session.until((reading) => reading.composer?.draft === 'early');
  });

  test('early input can be taken later, or lost', async () => {
    await using later = await SimulatedSession.open({
      timing: { startMs: 200, earlyInput: 'buffer' },
    });
    await later.control.waitFor('started');
    later.type('A\r');
    expect((await later.control.waitFor('submitted')).text).toBe('A');
    await using lost = await SimulatedSession.open({
      timing: { startMs: 200, earlyInput: 'ignored' },
    });
    await lost.control.waitFor('started');
    await lost.until((_, snapshot) => snapshot.rows[0]?.text === 'Starting…');
    lost.type('A\r');
    await lost.ready();
    expect((await lost.look()).reading.composer?.draft).toBe('');
  });

  test('a stalled stdin takes nothing until released', async () => {
    await using session = await open();
    await session.control.act({ do: 'stall', what: 'reading', until: 'read' });
    session.type('A\r');
    await session.control.act({ do: 'output', lines: ['still drawing'] });
    await session.until((_, snapshot) =>
      snapshot.rows.some((row) => row.text.includes('still drawing')),
    );
    expect((await session.look()).reading.composer?.draft).toBe('');
    await session.control.release('read');
    expect((await session.control.waitFor('submitted')).text).toBe('A');
  });

  test('a stalled screen hides what happened; a half frame is unreadable', async () => {
    await using session = await open();
    await session.control.act({ do: 'stall', what: 'drawing' });
    session.type('A\r');
    await session.control.waitFor('submitted');
    expect((await session.look()).reading.busy).toBe(false);
    await session.control.act({ do: 'resume' });
    await session.control.act({ do: 'stall', what: 'mid_frame' });
    const { snapshot } = await session.until((reading) => !reading.readable);
    expect(snapshot.modes.synchronizedOutput).toBe(true);
    await session.control.act({ do: 'resume' });
    await session.ready();
  });

  test('a resize repaints at the new size', async () => {
    await using session = await open();
    const text = 'w'.repeat(100);
    session.paste(text);
    const body = { frames: [text], text };
    await session.until(
      (reading, snapshot) => session.reader.matchDraft(reading, body, snapshot) === 'exact',
    );
    session.terminal.resize(40, 16);
    const { reading } = await session.until(
      (reading, snapshot) =>
        snapshot.cols === 40 && session.reader.matchDraft(reading, body, snapshot) === 'exact',
    );
    expect(reading.composer?.rows).toHaveLength(3);
  });

  test('gone to a shell: unreadable, and every byte is told', async () => {
    await using session = await open();
    await session.control.act({ do: 'shell' });
    await session.until((reading) => !reading.readable);
    session.type('rm x\r');
    expect((await session.control.waitFor('command_run')).text).toBe('rm x');
    expect(session.control.received()).toEqual([]);
  });

  test('it exits and crashes when told', async () => {
    await using leaving = await open();
    const exited = new Promise<number | null>((resolve) =>
      leaving.terminal.onExit((exit) => resolve(exit.exitCode)),
    );
    leaving.control.exit(3);
    expect(await exited).toBe(3);
    await using crashing = await open({
      plan: [{ when: { on: 'enter' }, actions: [{ do: 'crash' }] }],
    });
    const crashed = new Promise<number | null>((resolve) =>
      crashing.terminal.onExit((exit) => resolve(exit.signal)),
    );
    crashing.type('A\r');
    expect(await crashed).toBe(9);
  });

  test('title and program state beside the screen, plain frames on the normal screen', async () => {
    await using session = await open({
      ...held,
      look: { title: true, programState: true, alternateScreen: false, synchronizedOutput: false },
    });
    session.type('A\r');
    const { snapshot } = await session.until(
      (_, snapshot) => snapshot.signals.programState?.state === 'working',
    );
    expect(snapshot.signals.title?.text).toBe('simulated agent: working');
    expect(snapshot.modes.alternateScreen).toBe(false);
    await session.control.open('permission');
    await session.until((_, snapshot) => snapshot.signals.programState?.kind === 'permission');
  });

  test('an action nobody knows is refused', async () => {
    await using session = await open();
    const action = { do: 'dance' } as unknown as { do: 'close' };
    await expect(session.control.act(action)).rejects.toMatchObject({
      code: 'SIMULATED_ACTION_REFUSED',
    });
  });
});
