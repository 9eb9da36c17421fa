import { describe, expect, test } from 'vitest';
import { SimulatedSession } from './simulated-session.js';

const open = SimulatedSession.openReady;

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
