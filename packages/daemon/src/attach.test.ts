import { expect, test } from 'vitest';
import { DaemonRig } from './testing/daemon-rig.js';
import { codeOf, type Frame, type RawClient } from './testing/raw-client.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const deliveries = Number(process.env['OSTLER_ATTACH_DELIVERIES'] ?? 40);
const keysPerLine = 20;

async function attach(client: RawClient, target: object, more: object = {}): Promise<Frame> {
  const attached = await client.call('agent.attach', { ...target, ...more });
  if (attached['error']) throw new Error(JSON.stringify(attached['error']));
  return attached;
}

/** Who looks before pressing Enter, as people do: agents take an Enter that comes with text for a line break. */
async function untilShown(client: RawClient, target: object, text: string): Promise<void> {
  for (;;) {
    const { rows } = await client.call('agent.screen', target);
    if ((rows as readonly string[]).some((row) => row.includes(text))) return;
  }
}

async function untilReady(client: RawClient, target: object): Promise<void> {
  for (;;) {
    const { reading } = await client.call('agent.screen', target);
    if ((reading as { composer: unknown }).composer !== null) return;
  }
}

test('a person sees the screen as it is and as it goes on, and types', async () => {
  await using rig = await DaemonRig.start();
  const client = await rig.client();
  const { agentId, control } = await rig.launch(client, 'one', { turns: [{ forMs: 10 }] });
  const target = rig.target(agentId);
  await untilReady(client, target);
  const person = await rig.client();
  const { attachId, paint } = await attach(person, target, { cols: 90, rows: 30 });
  expect(Buffer.from(String(paint), 'base64').length).toBeGreaterThan(0);
  const typed = await person.call('agent.input', { attachId, data: base64('by hand') });
  expect(typed['outcome']).toBe('passed_on');
  await untilShown(person, target, 'by hand');
  await person.call('agent.input', { attachId, data: base64('\r') });
  await control.waitFor(({ event, text }) => event === 'model_received' && text === 'by hand');
  await person.frame((frame) => frame.type === 'terminal' && frame['kind'] === 'output');
  const screen = await client.call('agent.screen', target);
  expect(screen['cols']).toBe(90);
});

test('one who only looks can neither type nor resize, and nobody uses a view of another', async () => {
  await using rig = await DaemonRig.start();
  const client = await rig.client();
  const { agentId } = await rig.launch(client, 'one');
  const viewer = await rig.client();
  const { attachId } = await attach(viewer, rig.target(agentId), { readOnly: true });
  const input = { attachId, data: base64('x') };
  expect(codeOf(await viewer.call('agent.input', input))).toBe('UNSUPPORTED_CAPABILITY');
  expect(codeOf(await viewer.call('agent.size', { attachId, cols: 50, rows: 20 }))).toBe(
    'UNSUPPORTED_CAPABILITY',
  );
  expect(codeOf(await client.call('agent.input', input))).toBe('INVALID_REQUEST');
  expect(codeOf(await viewer.call('agent.detach', { attachId }))).toBeNull();
  expect(codeOf(await viewer.call('agent.detach', { attachId }))).toBe('INVALID_REQUEST');
});

test("a person's draft holds a delivery back until it is gone", async () => {
  await using rig = await DaemonRig.start();
  const client = await rig.client();
  const { agentId, control } = await rig.launch(client, 'one', { turns: [{ forMs: 10 }] });
  const target = rig.target(agentId);
  await untilReady(client, target);
  const { attachId } = await attach(client, target);
  await client.call('agent.input', { attachId, data: base64('half a thought') });
  await client.call('turn.send', { ...target, idempotencyKey: 'k', text: 'from a program' });
  await client.frame(
    (frame) =>
      frame['kind'] === 'receipt.updated' && JSON.stringify(frame).includes('foreign_draft'),
  );
  await untilShown(client, target, 'half a thought');
  await client.call('agent.input', { attachId, data: base64('\r') });
  const waited = await client.call('receipt.wait', {
    idempotencyKey: 'k',
    until: 'started',
    timeoutMs: 10_000,
  });
  expect(waited['waitEnded']).toBe('reached');
  expect(control.received().map(({ text }) => text)).toEqual(['half a thought', 'from a program']);
});

test(`${deliveries} deliveries among ${deliveries * keysPerLine} keys of a person: all whole, all in order`, {
  timeout: 60_000 + deliveries * 1_500,
}, async () => {
  await using rig = await DaemonRig.start();
  const client = await rig.client();
  const { agentId, control } = await rig.launch(client, 'one', {
    busyRule: 'native_queue',
    drain: 'one',
    turns: [{ forMs: 1 }],
  });
  const target = rig.target(agentId);
  await untilReady(client, target);
  const person = await rig.client();
  const { attachId } = await attach(person, target);
  const lineOf = (number: number): string =>
    `by hand ${String(number).padStart(4, '0')} end`.padEnd(keysPerLine - 1, '.');
  const press = async (key: string): Promise<void> => {
    const { outcome } = await person.call('agent.input', { attachId, data: base64(key) });
    expect(outcome).toMatch(/passed_on|held/);
  };
  const typing = (async () => {
    for (let number = 1; number <= deliveries; number += 1) {
      for (const key of lineOf(number)) await press(key);
      await untilShown(person, target, lineOf(number));
      await press('\r');
    }
  })();
  const sent: string[] = [];
  for (let number = 1; number <= deliveries; number += 1) {
    const text = `by program ${String(number).padStart(4, '0')}`;
    sent.push(text);
    await client.call('turn.send', { ...target, idempotencyKey: `k${number}`, text });
    await client.call('receipt.wait', {
      idempotencyKey: `k${number}`,
      until: 'accepted',
      timeoutMs: 30_000,
    });
  }
  await typing;
  const lines = Array.from({ length: deliveries }, (_, index) => lineOf(index + 1));
  await control.waitFor(({ event, text }) => event === 'model_received' && text === lines.at(-1));
  const received = control.received();
  expect(received.every(({ count }) => count === 1)).toBe(true);
  const texts = received.map(({ text }) => text);
  const receipts = await client.call('receipts.list', { limit: 512 });
  const states = receipts['receipts'] as readonly { idempotencyKey: string; state: string }[];
  const submitted = states.filter(({ state }) => state !== 'rejected' && state !== 'unknown');
  expect(texts.filter((text) => text.startsWith('by hand'))).toEqual(lines);
  const programs = texts.filter((text) => text.startsWith('by program'));
  expect(programs).toEqual(sent.filter((text) => programs.includes(text)));
  expect(programs.length).toBeGreaterThanOrEqual(submitted.length);
  expect(texts.filter((text) => !text.startsWith('by '))).toEqual([]);
  process.stdout.write(
    `attach: ${lines.length * keysPerLine} keys, ${sent.length} deliveries, ${programs.length} of them submitted\n`,
  );
});
