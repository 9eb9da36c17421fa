import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServiceRig } from './testing/service-rig.js';

let rig: ServiceRig;
beforeEach(() => {
  rig = new ServiceRig({ echoDeadlineMs: 1_500, confirmWindowMs: 1_500, enterRetryAfterMs: 150 });
});
afterEach(() => rig[Symbol.asyncDispose]());

describe('one message into a simulated agent', () => {
  test('a receipt moves from queued to completed, and the model got the text once', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 50, answer: 'done' }] });
    expect(rig.send(agent, 'a', 'hello there').status).toBe('accepted');
    const { receipt, waitEnded } = await rig.until('a', 'settled');
    expect(waitEnded).toBe('reached');
    expect(receipt).toMatchObject({ state: 'completed', error: null });
    expect(receipt.turnId).not.toBeNull();
    expect(control.received()).toEqual([{ text: 'hello there', count: 1 }]);
  });

  test('a duplicate gets the stored receipt, another intent a conflict, and nothing is typed twice', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 20 }] });
    rig.send(agent, 'a', 'once');
    await rig.until('a', 'settled');
    expect(rig.send(agent, 'a', 'once')).toMatchObject({
      status: 'duplicate',
      receipt: { state: 'completed' },
    });
    expect(() => rig.send(agent, 'a', 'twice')).toThrow(
      expect.objectContaining({ code: 'IDEMPOTENCY_CONFLICT' }),
    );
    expect(control.received()).toEqual([{ text: 'once', count: 1 }]);
  });

  test('B sent while A runs is steered, and both are tied to their turn', async () => {
    const { agent, control } = await rig.launch({
      turns: [{ text: 'long', until: 'finish' }],
      boundaryMs: 50,
    });
    rig.send(agent, 'a', 'a long task');
    await rig.until('a', 'started');
    rig.send(agent, 'b', 'and this');
    const { receipt } = await rig.until('b', 'accepted');
    expect(receipt.input).toMatchObject({ mode: 'steering', phase: 'accepted' });
    await rig.until('b', 'started');
    await control.release('finish');
    expect((await rig.until('a', 'settled')).receipt.state).toBe('completed');
    expect((await rig.until('b', 'settled')).receipt.state).toBe('completed');
  });

  test('four rapid inputs, two of them identical, arrive in order, each once', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 30 }], boundaryMs: 10 });
    const texts = ['one', 'same', 'same', 'four'];
    for (const [index, text] of texts.entries()) rig.send(agent, `k${index}`, text);
    for (const index of texts.keys()) await rig.until(`k${index}`, 'started');
    await control.waitFor(({ event, text }) => event === 'model_received' && text === 'four');
    const received = control.events.filter(({ event }) => event === 'model_received');
    expect(received.map(({ text }) => text)).toEqual(texts);
  });

  test('16 KiB of many lines arrive whole', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 10 }] });
    const line = 'a line of a long text, 48 bytes of it in each.\n';
    const text = line.repeat(340).slice(0, 16_384).trimEnd();
    rig.send(agent, 'a', text);
    await rig.until('a', 'settled');
    expect(control.received()).toEqual([{ text, count: 1 }]);
  });
});

describe('what stands in the way', () => {
  test('a permission that is open: nothing is typed into it, and the input goes when it is closed', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 10 }] });
    await control.waitFor('ready');
    await control.open('permission');
    await rig.reads(agent, ({ hold }) => hold === 'permission');
    rig.send(agent, 'a', 'patient');
    const held = await rig.seen('a', ({ input }) => input?.hold === 'permission');
    expect(held).toMatchObject({ state: 'queued', input: { phase: 'waiting_for_user' } });
    expect(control.events.some(({ event }) => event === 'bytes_ignored')).toBe(false);
    await control.close();
    await rig.until('a', 'settled');
    expect(control.received()).toEqual([{ text: 'patient', count: 1 }]);
    expect(control.events.some(({ event }) => event === 'dialog_answered')).toBe(false);
  });

  test('a permission that opens between paste and Enter: no Enter, then the text is taken back', async () => {
    const { agent, control } = await rig.launch({
      turns: [{ forMs: 10 }],
      timing: { echoMs: 20 },
      plan: [{ when: { on: 'paste', nth: 1 }, actions: [{ do: 'open', dialog: 'permission' }] }],
    });
    rig.send(agent, 'a', 'unlucky');
    rig.send(agent, 'b', 'behind it');
    const withheld = await rig.seen('a', ({ error }) => error !== null);
    expect(withheld).toMatchObject({
      state: 'unknown',
      error: { code: 'enter_withheld:permission' },
    });
    await control.close();
    expect((await rig.until('a', 'settled')).receipt.state).toBe('rejected');
    await rig.until('b', 'settled');
    expect(control.received()).toEqual([{ text: 'behind it', count: 1 }]);
    expect(control.events.some(({ event }) => event === 'dialog_answered')).toBe(false);
  });

  test("a person's draft is left as it is, and the input goes when it is gone", async () => {
    const { agent, control } = await rig.launch({
      draft: 'half a thought',
      turns: [{ forMs: 10 }],
    });
    rig.send(agent, 'a', 'later');
    await rig.seen('a', ({ input }) => input?.hold === 'foreign_draft');
    expect(
      (await agent.terminal.look()).rows.some(({ text }) => text.includes('half a thought')),
    ).toBe(true);
    await control.act({ do: 'clear' });
    await rig.until('a', 'settled');
    expect(control.received()).toEqual([{ text: 'later', count: 1 }]);
  });

  test('an agent gone to a shell: the text never reaches the shell', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 10 }] });
    await control.waitFor('ready');
    await control.act({ do: 'shell' });
    await rig.reads(agent, ({ composer }) => composer === null);
    rig.send(agent, 'a', 'rm -r something');
    await rig.seen('a', ({ input }) => input?.hold !== undefined);
    expect(control.events.some(({ event }) => event === 'shell_received')).toBe(false);
  });

  test('a swallowed Enter is pressed once more, a swallowed paste never pasted again', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 10 }], swallowEnters: 1 });
    rig.send(agent, 'a', 'twice entered');
    await rig.until('a', 'settled');
    expect(control.received()).toEqual([{ text: 'twice entered', count: 1 }]);
    expect(control.events.filter(({ event }) => event === 'pasted')).toHaveLength(1);
  });

  test('a stalled agent leaves the input in doubt, and a late record raises it', async () => {
    const { agent, control } = await rig.launch({
      turns: [{ forMs: 10 }],
      plan: [
        {
          when: { on: 'paste', nth: 1 },
          actions: [{ do: 'stall', what: 'reading', until: 'thaw' }],
        },
      ],
    });
    rig.send(agent, 'a', 'slow');
    await rig.seen('a', ({ state }) => state === 'unknown');
    await control.release('thaw');
    expect((await rig.until('a', 'settled')).receipt.state).toBe('completed');
    expect(control.received()).toEqual([{ text: 'slow', count: 1 }]);
  });

  test("a person's keys during our write land after it, whole", async () => {
    const { agent, control } = await rig.launch({
      turns: [{ forMs: 10 }],
      timing: { echoMs: 60, keyMs: 20 },
    });
    await control.waitFor('ready');
    rig.send(agent, 'a', 'ours');
    await control.waitFor('pasted');
    expect(agent.terminal.personInput('theirs')).toEqual({ kind: 'held' });
    await rig.until('a', 'settled');
    rig.send(agent, 'b', 'waits');
    await rig.seen('b', ({ input }) => input?.hold === 'foreign_draft');
    expect(control.received()).toEqual([{ text: 'ours', count: 1 }]);
    await rig.reads(agent, ({ composer }) => composer?.draft === 'theirs');
  });
});

describe('questions and stops', () => {
  test('a question is announced, answered by its id, and an old id types nothing', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 10 }] });
    await control.waitFor('ready');
    const opened = new Promise<string>((resolve) => {
      rig.service.events.on('question.open', ({ requestId }) => resolve(requestId));
    });
    await control.open('question');
    const requestId = await opened;
    expect(() => rig.answer(agent, 'q0', 'another', { colour: 'Green' })).toThrow(
      expect.objectContaining({ code: 'QUESTION_STALE' }),
    );
    const prompt = agent.openQuestion?.question.prompts[0]?.text ?? '';
    rig.answer(agent, 'q1', requestId, { [prompt]: 'Green' });
    await rig.seen('q1', ({ state }) => state !== 'queued');
    const answered = await control.waitFor('dialog_answered');
    expect(answered).toMatchObject({ dialog: 'question', option: 'Green' });
    expect(() => rig.answer(agent, 'q2', requestId, { [prompt]: 'Red' })).toThrow(
      expect.objectContaining({ code: 'QUESTION_STALE' }),
    );
  });

  test('a stop interrupts the running turn; without one it is rejected and types nothing', async () => {
    const { agent, control } = await rig.launch({ turns: [{ until: 'never' }] });
    await control.waitFor('ready');
    rig.stop(agent, 's0');
    expect((await rig.until('s0', 'settled')).receipt).toMatchObject({
      state: 'rejected',
      error: { code: 'not_busy' },
    });
    rig.send(agent, 'a', 'endless');
    await rig.until('a', 'started');
    await rig.agentIs(agent, 'busy');
    rig.stop(agent, 's1');
    await rig.seen('a', ({ error }) => error?.code === 'TURN_INTERRUPTED');
    expect((await rig.until('s1', 'settled')).receipt).toMatchObject({ state: 'completed' });
  });

  test('an answer is accepted once its keys have answered, and completed with its turn', async () => {
    const { agent, control } = await rig.launch({ turns: [{ until: 'the end' }] });
    await control.waitFor('ready');
    rig.send(agent, 'a', 'ask me');
    await rig.until('a', 'started');
    await control.open('question');
    await rig.agentIs(agent, 'held');
    const { question, requestId } = agent.openQuestion ?? {};
    rig.answer(agent, 'q', requestId ?? '', { [question?.prompts[0]?.text ?? '']: 'Green' });
    expect(await rig.until('q', 'accepted')).toMatchObject({
      waitEnded: 'reached',
      receipt: { state: 'delivered' },
    });
    await control.release('the end');
    expect((await rig.until('q', 'settled')).receipt).toMatchObject({ state: 'completed' });
  });
});

describe('bad days', () => {
  test('a restart leaves the dispatched unknown and rejects what was never written', async () => {
    const { agent, control } = await rig.launch({ turns: [{ until: 'never' }] });
    rig.send(agent, 'a', 'under way');
    await rig.until('a', 'started');
    await control.open('permission');
    await rig.reads(agent, ({ hold }) => hold === 'permission');
    rig.send(agent, 'b', 'not yet');
    await rig.seen('b', ({ input }) => input?.hold === 'permission');
    await rig.reopen();
    expect(rig.service.receiptGet('local', 'a')).toMatchObject({ state: 'unknown' });
    expect(rig.service.receiptGet('local', 'b')).toMatchObject({ state: 'rejected' });
    expect(() => rig.send(agent, 'a', 'under way')).not.toThrow();
    expect(rig.send(agent, 'a', 'under way').status).toBe('duplicate');
  });

  test('while it drains a duplicate is answered, and nothing new is taken', async () => {
    const { agent } = await rig.launch({ turns: [{ forMs: 10 }] });
    rig.send(agent, 'a', 'before');
    expect(await rig.service.drain(9_000)).toBe(true);
    expect(rig.send(agent, 'a', 'before').status).toBe('duplicate');
    expect(() => rig.send(agent, 'b', 'too late')).toThrow(
      expect.objectContaining({ code: 'BACKPRESSURE' }),
    );
    expect(rig.service.receiptGet('local', 'b')).toBeNull();
    await expect(rig.launch({})).rejects.toMatchObject({ code: 'BACKPRESSURE' });
  });

  test('an unknown agent and an ended one are typed errors, and claim nothing', async () => {
    const { agent, control } = await rig.launch({ turns: [{ forMs: 10 }] });
    await control.waitFor('ready');
    control.exit();
    await new Promise<void>((resolve) => {
      agent.terminal.onExit(() => resolve());
    });
    expect(() => rig.send(agent, 'a', 'too late')).toThrow(
      expect.objectContaining({ code: 'AGENT_NOT_FOUND' }),
    );
    expect(rig.service.receiptGet('local', 'a')).toBeNull();
  });
});
