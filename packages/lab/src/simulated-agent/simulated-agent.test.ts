import { describe, expect, test } from 'vitest';
import { simulatedEngine } from './engine.js';
import type { ScriptInput } from './script.js';
import { SimulatedSession } from './simulated-session.js';

const open = SimulatedSession.openReady;

const held: ScriptInput = { turns: [{ text: 'A', until: 'go' }], boundaryMs: null };

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
      (_, { signals }) =>
        signals.programState?.state === 'working' &&
        signals.title?.text === 'simulated agent: working',
    );
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
