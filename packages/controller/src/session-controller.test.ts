import { describe, expect, test } from 'vitest';
import { defaultLimits } from './limits.js';
import { rig } from './testing/fake-agent.js';

const accepted = (text: string, atMs: number, kind: 'input_accepted' | 'input_consumed') =>
  ({ kind, text, evidence: 'record', inputRef: `ref ${text}`, turnRef: 't1', atMs }) as const;

describe('delivery', () => {
  test('an idle send is pasted once, entered once and accepted by the composer', async () => {
    const { agent, session, receipt, settle, journal } = await rig();
    session.submit('a', 'hello');
    await settle();
    expect(agent.writes.map(({ data }) => data)).toEqual(['hello', '\r']);
    expect(agent.received).toEqual(['hello']);
    expect(receipt('a')).toMatchObject({
      state: 'delivered',
      input: { mode: 'direct', phase: 'accepted', evidence: 'composer_left' },
    });
    expect(journal).toEqual([
      'a direct',
      'a paste_begun',
      'a paste_written',
      'a enter_begun',
      'a enter_written',
    ]);
    expect(agent.leased).toBe(false);
  });

  test('B typed before A ends takes the mode of the engine, and keeps it after A ends', async () => {
    const { session, receipt, settle } = await rig({ busyMode: 'native_queue' });
    session.submit('a', 'A');
    await settle();
    session.submit('b', 'B');
    await settle();
    expect(receipt('b').input).toMatchObject({ mode: 'native_queue', phase: 'accepted' });
    session.engineEvent({
      kind: 'turn_ended',
      turnRef: null,
      outcome: 'completed',
      inputRefs: [],
      finalText: null,
      atMs: 0,
    });
    expect(receipt('b').input?.mode).toBe('native_queue');
  });

  test('rapid A, B, C go strictly in order, one at a time, each whole', async () => {
    const { agent, session, settle } = await rig();
    for (const id of ['a', 'b', 'c']) session.submit(id, `text ${id}`);
    await settle();
    expect(agent.received).toEqual(['text a', 'text b', 'text c']);
    expect(agent.writes.map(({ data }) => data)).toEqual([
      'text a',
      '\r',
      'text b',
      '\r',
      'text c',
      '\r',
    ]);
  });

  test('an engine without a native route holds B until the turn ends, then types it', async () => {
    const { agent, session, receipt, settle } = await rig({ busyMode: 'daemon_queue' });
    session.submit('a', 'A');
    await settle();
    session.submit('b', 'B');
    await settle();
    expect(agent.received).toEqual(['A']);
    expect(receipt('b').input).toEqual({ mode: 'daemon_queue', phase: 'waiting_for_turn' });
    agent.change(() => void (agent.busy = false));
    session.engineEvent({
      kind: 'turn_ended',
      turnRef: null,
      outcome: 'completed',
      inputRefs: [],
      finalText: null,
      atMs: 0,
    });
    await settle();
    expect(agent.received).toEqual(['A', 'B']);
  });

  test('a failed write rejects its own input only', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.outcome = { kind: 'nothing_written', reason: 'full' };
    session.submit('a', 'A');
    await settle();
    agent.outcome = { kind: 'carried_out' };
    session.submit('b', 'B');
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'rejected', error: { code: 'paste_failed' } });
    expect(agent.received).toEqual(['B']);
  });

  test('a text with no safe form is refused before any byte', async () => {
    const { agent, session } = await rig();
    expect(session.submit('a', '/help')).toMatchObject({
      kind: 'refused',
      reason: 'slash_command',
    });
    expect(agent.writes).toEqual([]);
  });

  test('several lines are refused where the agent takes no bracketed paste', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.bracketedPaste = false;
    session.submit('a', 'one\ntwo');
    await settle();
    expect(receipt('a')).toMatchObject({
      state: 'rejected',
      error: { code: 'no_bracketed_paste' },
    });
    expect(agent.writes).toEqual([]);
  });

  test('a dispatch that cannot be journalled writes nothing', async () => {
    let broken = true;
    const { agent, session, receipt, settle } = await rig({ failJournal: () => broken });
    session.submit('a', 'A');
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'rejected', error: { code: 'INTERNAL' } });
    expect(agent.writes).toEqual([]);
    broken = false;
    session.submit('b', 'B');
    await settle();
    expect(agent.received).toEqual(['B']);
  });
});

describe('evidence', () => {
  test('a draft still there after a confirmed Enter allows two more Enters, no fourth', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.swallowEnters = 99;
    session.submit('a', 'A');
    await settle();
    for (let second = 0; second < 30; second += 1) {
      clock.advance(1_000);
      await settle();
    }
    expect(agent.writes.filter(({ data }) => data === '\r')).toHaveLength(3);
    expect(agent.writes.filter(({ kind }) => kind === 'paste')).toHaveLength(1);
    expect(receipt('a')).toMatchObject({
      state: 'unknown',
      input: { phase: 'unconfirmed' },
      error: { code: 'input_acceptance_unconfirmed' },
    });
  });

  test("while a person's draft is put away, Enter is pressed once only: another could submit it", async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.swallowEnters = 99;
    agent.stashed = true;
    session.submit('a', 'A');
    for (let second = 0; second < 20; second += 1) {
      await settle();
      clock.advance(1_000);
    }
    await settle();
    expect(agent.writes.map(({ data }) => data)).toEqual(['A', '\r']);
    expect(receipt('a').state).toBe('unknown');
  });

  test('nor once the stash has been seen: what stands there now may be the draft that came back', async () => {
    const { agent, session, settle, clock } = await rig();
    agent.swallowEnters = 99;
    agent.stashed = true;
    session.submit('a', 'A');
    await settle();
    agent.change(() => void (agent.stashed = false));
    for (let second = 0; second < 20; second += 1) {
      await settle();
      clock.advance(1_000);
    }
    expect(agent.writes.map(({ data }) => data)).toEqual(['A', '\r']);
  });

  test('one swallowed Enter is made good by the second', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.swallowEnters = 1;
    session.submit('a', 'A');
    await settle();
    clock.advance(2_000);
    await settle();
    expect(agent.received).toEqual(['A']);
    expect(receipt('a').input).toMatchObject({ phase: 'accepted' });
  });

  test('after an ambiguous Enter none is pressed again, and the next input waits', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'enter';
    agent.afterPaste = () => {
      queueMicrotask(() => void (agent.outcome = { kind: 'ambiguous', reason: 'EIO' }));
    };
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    clock.advance(60_000);
    await settle();
    expect(agent.writes.map(({ data }) => data)).toEqual(['A', '\r']);
    expect(receipt('a').state).toBe('unknown');
    expect(receipt('b').input).toMatchObject({ hold: 'unconfirmed_input' });
  });

  test('unknown A is raised by a later matching start, and the barrier is gone', async () => {
    const { agent, session, receipt, settle, clock, wallMs } = await rig();
    agent.deafness = 'enter';
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    clock.advance(20_000);
    await settle();
    expect(receipt('a').state).toBe('unknown');
    agent.deafness = 'none';
    agent.change(() => void (agent.draft = ''));
    session.engineEvent(accepted('A', wallMs(), 'input_consumed'));
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'started', error: null });
    expect(agent.received).toEqual(['B']);
  });

  test('a composer cleared without a start is accepted, not completed', async () => {
    const { session, receipt, settle } = await rig();
    session.submit('a', 'A');
    await settle();
    expect(receipt('a').state).toBe('delivered');
  });

  test('a composer that is empty after a dialog is not acceptance', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'enter';
    session.submit('a', 'A');
    await settle();
    agent.change(() => void (agent.hold = 'permission'));
    await settle();
    agent.change(() => {
      agent.hold = null;
      agent.draft = '';
    });
    await settle();
    clock.advance(20_000);
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'unknown', input: { phase: 'unconfirmed' } });
  });

  test('a composer in doubt that a person clears is not acceptance, and the barrier is gone', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.swallowEnters = 99;
    session.submit('a', 'A');
    session.submit('b', 'B');
    for (let second = 0; second < 20; second += 1) {
      await settle();
      clock.advance(1_000);
    }
    await settle();
    expect(receipt('a').state).toBe('unknown');
    agent.swallowEnters = 0;
    agent.personWritten += 1;
    agent.change(() => void (agent.draft = ''));
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'unknown', input: { phase: 'unconfirmed' } });
    expect(receipt('b').input).toMatchObject({ hold: 'person_typing' });
    clock.advance(defaultLimits.personQuietMs);
    await settle();
    expect(agent.received).toEqual(['B']);
  });

  test('evidence older than the paste belongs to somebody else', async () => {
    const { agent, session, receipt, settle, wallMs } = await rig();
    agent.deafness = 'enter';
    session.submit('a', 'A');
    await settle();
    session.engineEvent(accepted('A', wallMs() - 1_000, 'input_consumed'));
    await settle();
    expect(receipt('a').state).toBe('delivered');
    expect(receipt('a').input?.phase).toBe('submitted');
  });

  test('a first sign of acceptance after 12 s still raises it', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'enter';
    session.submit('a', 'A');
    await settle();
    clock.advance(12_000);
    await settle();
    agent.change(() => void (agent.draft = ''));
    await settle();
    expect(receipt('a').input).toMatchObject({ phase: 'accepted', evidence: 'composer_left' });
  });

  test('identical texts are credited first in, first out', async () => {
    const { session, receipt, settle, wallMs } = await rig();
    session.submit('a', 'same');
    session.submit('b', 'same');
    await settle();
    session.engineEvent(accepted('same', wallMs(), 'input_consumed'));
    await settle();
    expect(receipt('a').state).toBe('started');
    expect(receipt('b').state).toBe('delivered');
  });

  test('of identical texts one of which is in doubt, the record raises neither', async () => {
    const { agent, session, receipt, settle, clock, wallMs } = await rig();
    agent.deafness = 'paste';
    session.submit('a', 'same');
    await settle();
    clock.advance(15_000);
    await settle();
    agent.deafness = 'none';
    session.resolve('a', 'unknown');
    session.submit('b', 'same');
    await settle();
    session.engineEvent(accepted('same', wallMs(), 'input_consumed'));
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'unknown', input: { phase: 'unconfirmed' } });
    expect(receipt('b')).toMatchObject({ state: 'delivered', input: { phase: 'accepted' } });
  });

  test('a text the engine gave back does not get the credit of the next like it', async () => {
    const { agent, session, receipt, settle, wallMs } = await rig({ busyMode: 'native_queue' });
    agent.busy = true;
    session.submit('a', 'same');
    await settle();
    session.engineEvent({ kind: 'input_withdrawn', text: null, atMs: wallMs() });
    session.submit('b', 'same');
    await settle();
    session.engineEvent(accepted('same', wallMs(), 'input_consumed'));
    expect(receipt('a')).toMatchObject({ state: 'unknown', error: { code: 'NOT_CONFIRMED' } });
    expect(receipt('b')).toMatchObject({ state: 'delivered', input: { phase: 'accepted' } });
  });

  test('a late hook of an input that was consumed already is no acceptance of the next like it', async () => {
    const { agent, session, receipt, settle, wallMs } = await rig();
    const hook = { ...accepted('same', wallMs(), 'input_accepted'), evidence: 'hook' } as const;
    session.submit('a', 'same');
    await settle();
    session.engineEvent(accepted('same', wallMs(), 'input_consumed'));
    agent.deafness = 'paste';
    session.submit('b', 'same');
    await settle();
    session.engineEvent(hook);
    expect(receipt('b').state).toBeUndefined();
  });

  test('completion comes only from a record that names the input', async () => {
    const { session, receipt, settle, wallMs } = await rig();
    session.submit('a', 'A');
    await settle();
    session.engineEvent(accepted('A', wallMs(), 'input_consumed'));
    const end = { kind: 'turn_ended', turnRef: 't1', finalText: 'done', atMs: wallMs() } as const;
    session.engineEvent({ ...end, outcome: 'completed', inputRefs: ['somebody'] });
    expect(receipt('a').state).toBe('started');
    session.engineEvent({ ...end, outcome: 'completed', inputRefs: ['ref A'] });
    expect(receipt('a').state).toBe('completed');
  });
});

describe('holds', () => {
  test.each(['permission', 'question', 'trust', 'update'])(
    'nothing is typed into %s',
    async (hold) => {
      const { agent, session, receipt, settle } = await rig();
      agent.hold = hold;
      session.submit('a', 'A');
      session.submit('b', 'B');
      await settle();
      expect(agent.writes).toEqual([]);
      expect(receipt('a').input).toEqual({ mode: 'direct', phase: 'waiting_for_user', hold });
      agent.change(() => void (agent.hold = null));
      await settle();
      expect(agent.received).toEqual(['A', 'B']);
    },
  );

  test('a foreign draft is left alone, and the input goes when it clears', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.draft = 'half a thought';
    session.submit('a', 'A');
    await settle();
    expect(agent.writes).toEqual([]);
    expect(receipt('a').input).toMatchObject({
      phase: 'waiting_for_writer',
      hold: 'foreign_draft',
    });
    agent.change(() => void (agent.draft = ''));
    await settle();
    expect(agent.received).toEqual(['A']);
  });

  test('a dialog between paste and Enter withholds the Enter, and our text is taken back', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.afterPaste = () => agent.change(() => void (agent.hold = 'permission'));
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    expect(agent.answered).toEqual([]);
    expect(agent.writes.map(({ data }) => data)).toEqual(['A']);
    expect(receipt('a')).toMatchObject({
      state: 'unknown',
      error: { code: 'enter_withheld:permission' },
    });
    agent.change(() => void (agent.hold = null));
    await settle();
    expect(receipt('a')).toMatchObject({
      state: 'rejected',
      error: { code: 'enter_withheld:permission' },
    });
    expect(agent.received).toEqual(['B']);
  });

  test('a person typing into our draft withholds the Enter', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.afterPaste = () => agent.change(() => void (agent.draft += '!'));
    // The echo would be exact at once; the person is faster.
    agent.beforePaste = () => void (agent.draft = 'x');
    session.submit('a', 'A');
    await settle();
    clock.advance(15_000);
    await settle();
    expect(agent.writes.map(({ data }) => data)).toEqual(['A']);
    expect(receipt('a').error?.code).toBe('enter_withheld:draft_changed');
  });

  test('once a person has typed, our unsent text is theirs to take back, and nothing is proven by its end', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'paste';
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    clock.advance(15_000);
    await settle();
    agent.deafness = 'none';
    agent.personWritten += 1;
    agent.change(() => void (agent.draft = 'A'));
    await settle();
    expect(agent.writes.map(({ data }) => data)).toEqual(['A']);
    agent.change(() => void (agent.draft = ''));
    await settle();
    expect(receipt('a').state).toBe('unknown');
    clock.advance(defaultLimits.personQuietMs);
    await settle();
    expect(agent.received).toEqual(['B']);
  });

  test('keys that should take our text back and get lost do not keep the lease', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'paste';
    session.submit('a', 'A');
    await settle();
    clock.advance(15_000);
    await settle();
    agent.deafness = 'erase';
    agent.change(() => void (agent.draft = 'A'));
    await settle();
    expect(agent.leased).toBe(true);
    for (let second = 0; second < 20; second += 1) {
      agent.change(() => undefined);
      clock.advance(1_000);
      await settle();
    }
    expect(agent.leased).toBe(false);
    expect(session.phase).toBe('unconfirmed');
    expect(agent.writes.filter(({ data }) => data === '\x15')).toHaveLength(4);
    expect(receipt('a').state).toBe('unknown');
  });

  test('a paste that never shows keeps the barrier until it does', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'paste';
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    clock.advance(15_000);
    await settle();
    agent.change(() => undefined);
    await settle();
    expect(receipt('a').error?.code).toBe('enter_withheld:not_echoed');
    expect(agent.writes.map(({ data }) => data)).toEqual(['A']);
    agent.deafness = 'none';
    agent.change(() => void (agent.draft = 'A'));
    await settle();
    expect(receipt('a').state).toBe('rejected');
    expect(agent.received).toEqual(['B']);
  });
});

describe('life', () => {
  test('the ninth waiting input and the 24 KiB limit are refused as queue_full', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.hold = 'permission';
    for (let index = 0; index < 10; index += 1) session.submit(`i${index}`, `text ${index}`);
    await settle();
    expect(receipt('i8').state).toBeUndefined();
    expect(receipt('i9')).toMatchObject({ state: 'rejected', error: { code: 'queue_full' } });

    const other = await rig();
    other.agent.hold = 'permission';
    other.session.submit('x', 'x');
    other.session.submit('y', 'y'.repeat(16_000));
    other.session.submit('z', 'z'.repeat(16_000));
    await other.settle();
    expect(other.receipt('z')).toMatchObject({ error: { code: 'queue_full' } });
  });

  test('five minutes of waiting expire by a timer, held inputs too', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.hold = 'permission';
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    clock.advance(5 * 60_000);
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'rejected', error: { code: 'queue_expired' } });
    expect(receipt('b')).toMatchObject({ state: 'rejected', error: { code: 'queue_expired' } });
    agent.change(() => void (agent.hold = null));
    await settle();
    expect(agent.writes).toEqual([]);
  });

  test('64 unresolved inputs: the next is refused', async () => {
    const { session, receipt, settle } = await rig();
    for (let index = 0; index < 65; index += 1) {
      session.submit(`i${index}`, `text ${index}`);
      await settle();
    }
    expect(receipt('i63').input?.phase).toBe('accepted');
    expect(receipt('i64')).toMatchObject({ state: 'rejected', error: { code: 'queue_full' } });
  });

  test('cancelled while waiting: rejected; after the dispatch: nothing is claimed', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.hold = 'permission';
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    session.cancel('b');
    session.cancel('a');
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'rejected', error: { code: 'cancelled' } });
    expect(receipt('b')).toMatchObject({ state: 'rejected', error: { code: 'cancelled' } });
    agent.change(() => void (agent.hold = null));
    session.submit('c', 'C');
    await settle();
    session.cancel('c');
    await settle();
    expect(receipt('c').state).toBe('delivered');
  });

  test('the end of the agent rejects what waits and leaves the dispatched unknown', async () => {
    const { agent, session, receipt, settle } = await rig();
    session.submit('a', 'A');
    await settle();
    agent.hold = 'permission';
    session.submit('b', 'B');
    await settle();
    session.processExited();
    expect(receipt('a')).toMatchObject({ state: 'unknown', error: { code: 'AGENT_GONE' } });
    expect(receipt('b')).toMatchObject({ state: 'rejected', error: { code: 'agent_gone' } });
  });

  test('the process gone before the paste is a rejection', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.alive = false;
    session.submit('a', 'A');
    await settle();
    expect(receipt('a')).toMatchObject({
      state: 'rejected',
      error: { code: 'runtime_gone_pre_paste' },
    });
    expect(agent.writes).toEqual([]);
  });

  test('control goes first while inputs wait behind a dialog, and never during a transaction', async () => {
    const { agent, session, receipt, settle } = await rig();
    agent.hold = 'question';
    session.submit('a', 'A');
    await settle();
    const answer = session.withControl(async (pen) => {
      await pen.press('1');
      agent.change(() => void (agent.hold = null));
      return await pen.lookUntil((reading) => reading.hold === null, 1_000);
    });
    await settle();
    expect(await answer).toBe(true);
    await settle();
    expect(agent.writes.map(({ data }) => data)).toEqual(['1', 'A', '\r']);
    expect(receipt('a').input?.phase).toBe('accepted');
  });

  test('a barrier does not block control', async () => {
    const { agent, session, settle, clock } = await rig();
    agent.deafness = 'enter';
    session.submit('a', 'A');
    await settle();
    clock.advance(30_000);
    await settle();
    const stopped = session.withControl(async (pen) => await pen.press('\x1b'));
    await settle();
    expect(await stopped).toEqual({ kind: 'carried_out' });
    expect(session.phase).toBe('unconfirmed');
  });

  test('a person resolves an input in doubt', async () => {
    const { agent, session, receipt, settle, clock } = await rig();
    agent.deafness = 'enter';
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    clock.advance(30_000);
    await settle();
    agent.deafness = 'none';
    agent.draft = '';
    session.resolve('a', 'not_submitted');
    await settle();
    expect(receipt('a')).toMatchObject({ state: 'rejected', error: { code: 'not_submitted' } });
    expect(agent.received).toEqual(['B']);
  });
});

describe('an engine that drains its own queue', () => {
  const ended = (atMs: number) =>
    ({
      kind: 'turn_ended',
      turnRef: null,
      outcome: 'completed',
      inputRefs: [],
      finalText: null,
      atMs,
    }) as const;

  test('however long the turn before was', async () => {
    const { agent, session, receipt, settle, clock } = await rig({ busyMode: 'native_queue' });
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    for (let second = 0; second < 20; second += 1) {
      agent.change(() => undefined);
      clock.advance(1_000);
      await settle();
    }
    agent.change(() => void (agent.busy = false));
    session.submit('c', 'C');
    await settle();
    expect(receipt('b').input).toMatchObject({ mode: 'native_queue', phase: 'accepted' });
    expect(receipt('c').input?.hold).toBe('turn_starting');
    expect(agent.received).toEqual(['A', 'B']);
    clock.advance(3_000);
    await settle();
    expect(agent.received).toEqual(['A', 'B', 'C']);
  });

  test.each(['its record', 'time'] as const)(
    'a turn that ends between the paste and the Enter is waited for as well, until %s lets it go',
    async (until) => {
      const { agent, session, settle, clock, wallMs } = await rig({ busyMode: 'native_queue' });
      session.submit('a', 'A');
      session.submit('b', 'B');
      await settle();
      agent.afterPaste = () => agent.change(() => void (agent.busy = false));
      session.submit('c', 'C');
      await settle();
      expect(agent.draft).toBe('C');
      expect(agent.received).toEqual(['A', 'B']);
      if (until === 'time') clock.advance(3_000);
      else session.engineEvent(accepted('B', wallMs(), 'input_consumed'));
      await settle();
      expect(agent.received).toEqual(['A', 'B', 'C']);
    },
  );

  test('the wait for it brings no second Enter forward', async () => {
    const { agent, session, settle, clock, wallMs } = await rig({ busyMode: 'native_queue' });
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    agent.afterPaste = () => agent.change(() => void (agent.busy = false));
    session.submit('c', 'C');
    await settle();
    clock.advance(2_900);
    await settle();
    agent.swallowEnters = 1;
    const enters = (): number => agent.writes.filter(({ data }) => data === '\r').length;
    const before = enters();
    session.engineEvent(accepted('B', wallMs(), 'input_consumed'));
    await settle();
    expect(enters()).toBe(before + 1);
    clock.advance(1_900);
    await settle();
    expect(enters()).toBe(before + 1);
    clock.advance(100);
    await settle();
    expect(agent.received).toEqual(['A', 'B', 'C']);
  });

  test('of two equal ones too, when one of them is known to be taken', async () => {
    const { agent, session, receipt, settle, wallMs } = await rig({ busyMode: 'native_queue' });
    session.submit('a', 'A');
    session.submit('b1', 'B');
    session.submit('b2', 'B');
    await settle();
    session.engineEvent({ ...accepted('B', wallMs(), 'input_consumed'), inputRef: 'r1' });
    session.engineEvent(ended(wallMs()));
    agent.change(() => void (agent.busy = false));
    session.submit('c', 'C');
    await settle();
    expect(receipt('c').input?.hold).toBe('turn_starting');
    expect(agent.received).toEqual(['A', 'B', 'B']);
  });

  test('what is typed between a turn and the queued input of the next waits for it', async () => {
    const { agent, session, receipt, settle, clock, wallMs } = await rig({
      busyMode: 'native_queue',
    });
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    expect(receipt('b').input).toMatchObject({ mode: 'native_queue', phase: 'accepted' });
    session.engineEvent(ended(wallMs()));
    session.submit('c', 'C');
    await settle();
    expect(receipt('c').input?.hold).toBe('turn_starting');
    expect(agent.received).toEqual(['A', 'B']);
    session.engineEvent(accepted('B', wallMs(), 'input_consumed'));
    await settle();
    expect(agent.received).toEqual(['A', 'B', 'C']);

    session.engineEvent(ended(wallMs()));
    session.submit('d', 'D');
    await settle();
    clock.advance(3_000);
    await settle();
    expect(agent.received).toEqual(['A', 'B', 'C', 'D']);
  });
});

describe('identical texts and results', () => {
  const end = (inputRefs: readonly string[]) =>
    ({
      kind: 'turn_ended',
      turnRef: null,
      outcome: 'completed',
      inputRefs,
      finalText: null,
      atMs: 0,
    }) as const;
  const consumed = (inputRef: string, atMs: number) =>
    ({ ...accepted('same', atMs, 'input_consumed'), inputRef }) as const;

  test('in one turn both are completed by its end', async () => {
    const { session, receipt, settle, wallMs } = await rig();
    session.submit('a', 'same');
    session.submit('b', 'same');
    await settle();
    session.engineEvent(consumed('r1', wallMs()));
    session.engineEvent(consumed('r2', wallMs()));
    session.engineEvent(end(['r1', 'r2']));
    expect(receipt('a').state).toBe('completed');
    expect(receipt('b').state).toBe('completed');
  });

  test('in two turns neither is: which went where is never guessed', async () => {
    const { session, receipt, settle, wallMs } = await rig();
    session.submit('a', 'same');
    session.submit('b', 'same');
    await settle();
    session.engineEvent(consumed('r1', wallMs()));
    session.engineEvent(end(['r1']));
    session.engineEvent(consumed('r2', wallMs()));
    session.engineEvent(end(['r2']));
    expect(receipt('a').error?.code).toBe('RESULT_EVIDENCE_MISSING');
    expect(receipt('b').error?.code).toBe('RESULT_EVIDENCE_MISSING');
  });
});

describe('an engine whose turn has to be seen to start', () => {
  test('the next input waits for the start, and no longer than the limit', async () => {
    const { agent, session, receipt, settle, wallMs } = await rig({ awaitsTurnStart: true });
    session.submit('a', 'A');
    session.submit('b', 'B');
    await settle();
    expect(receipt('b').input).toEqual({
      mode: 'steering',
      phase: 'waiting_for_writer',
      hold: 'turn_starting',
    });
    session.engineEvent(accepted('A', wallMs(), 'input_consumed'));
    await settle();
    expect(agent.received).toEqual(['A', 'B']);

    const silent = await rig({ awaitsTurnStart: true });
    silent.session.submit('a', 'A');
    silent.session.submit('b', 'B');
    await silent.settle();
    expect(silent.agent.received).toEqual(['A']);
    silent.clock.advance(3_000);
    await silent.settle();
    expect(silent.agent.received).toEqual(['A', 'B']);
  });
});
