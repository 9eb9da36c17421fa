import { type Receipt, utf8Bytes } from '@ostler/protocol';
import { sequentialIds, VirtualClock } from '@ostler/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ConnectClientOptions, connectClient, type OstlerClient } from './client.js';
import type { ClientError } from './client-error.js';
import { delayBefore, defaultReconnectLimits } from './limits.js';
import { ScriptedServer } from './testing/scripted-server.js';

const receipt: Receipt = {
  idempotencyKey: 'k',
  deliveryId: 'd',
  operation: 'turn.send',
  state: 'queued',
  machineId: 'machine-1',
  agentId: 'a',
  serverInstanceId: 'instance-1',
  turnId: null,
  error: null,
  at: 1,
};
const send = { agentId: 'a', idempotencyKey: 'k', text: 'hello' };

/** Everything that is only a promise away. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

async function connected(
  options: Partial<ConnectClientOptions> = {},
): Promise<{ server: ScriptedServer; clock: VirtualClock; client: OstlerClient }> {
  const server = new ScriptedServer();
  const clock = new VirtualClock();
  const client = await connectClient({
    connector: server.connector,
    clock,
    ids: sequentialIds(),
    ...options,
  });
  client.on('resync', () => undefined);
  await settle();
  return { server, clock, client };
}

async function failureOf(promise: Promise<unknown>): Promise<ClientError> {
  return await promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (failure: unknown) => failure as ClientError,
  );
}

describe('a call', () => {
  test('a list that comes in several answers is one list', async () => {
    const { client, server } = await connected();
    const agent = (agentId: string): object => ({
      ...{ machineId: 'machine-1', agentId, name: agentId, engine: 'generic' },
      ...{ version: null, state: 'idle', queued: 0 },
    });
    server.onRequest = (peer, request) => {
      const { after } = request as { readonly after?: string };
      const agents = after === undefined ? [agent('a'), agent('b')] : [agent('c')];
      peer.answer(request, { machineId: 'machine-1', agents, complete: after === 'b' });
    };
    expect((await client.agents.list()).map(({ agentId }) => agentId)).toEqual(['a', 'b', 'c']);
    expect(server.peer.of('agents.list')).toHaveLength(2);
  });

  test('is answered, and unknown fields are dropped', async () => {
    const { client, server } = await connected();
    server.onRequest = (peer, request) =>
      peer.answer(request, { status: 'accepted', receipt: { ...receipt, newer: 1 }, more: true });
    expect(await client.turn.send(send)).toEqual({ status: 'accepted', receipt });
    expect(server.peer.of('turn.send')).toMatchObject([{ machineId: 'machine-1', text: 'hello' }]);
  });

  test('that is refused tells by whose code, and that nothing was done', async () => {
    const { client, server } = await connected();
    const error = { code: 'FOCUS_CHANGED', message: 'the focus moved' };
    server.onRequest = (peer, request) => peer.answer(request, { error });
    expect(await failureOf(client.turn.send(send))).toMatchObject({
      ...error,
      outcome: 'not_carried_out',
    });
  });

  test.each(['INTERNAL', 'A_NEWER_CODE'])('refused with %s may have been done', async (code) => {
    const { client, server } = await connected();
    server.onRequest = (peer, request) => peer.answer(request, { error: { code, message: 'm' } });
    expect(await failureOf(client.turn.send(send))).toMatchObject({ code, outcome: 'unknown' });
    expect(await failureOf(client.focus.get())).toMatchObject({ code, outcome: 'not_carried_out' });
  });

  test('larger than a frame is refused here', async () => {
    const { client, server } = await connected();
    const failure = await failureOf(client.turn.send({ ...send, text: 'é'.repeat(40_000) }));
    expect(failure).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', outcome: 'not_carried_out' });
    expect(server.peer.of('turn.send')).toEqual([]);
    expect(utf8Bytes('é'.repeat(40_000))).toBe(80_000);
  });

  test('with an answer that breaks the protocol is in doubt', async () => {
    const { client, server } = await connected();
    server.onRequest = (peer, request) => peer.answer(request, { status: 'perhaps' });
    expect(await failureOf(client.turn.send(send))).toMatchObject({
      code: 'ANSWER_UNREADABLE',
      outcome: 'unknown',
    });
  });

  test('waits for its answer as long as it may', async () => {
    const { client, clock } = await connected();
    const sent = failureOf(client.turn.send(send));
    const read = failureOf(
      client.receipt.wait({ idempotencyKey: 'k', until: 'settled', timeoutMs: 5_000 }),
    );
    await settle();
    clock.advance(30_000);
    expect(await sent).toMatchObject({ code: 'ANSWER_TIMEOUT', outcome: 'unknown' });
    clock.advance(5_000);
    expect(await read).toMatchObject({ code: 'ANSWER_TIMEOUT', outcome: 'not_carried_out' });
  });

  test('can be aborted: before it is sent nothing was done, behind it that is not known', async () => {
    const { client, server } = await connected();
    expect(await failureOf(client.turn.send(send, AbortSignal.abort()))).toMatchObject({
      code: 'ABORTED',
      outcome: 'not_carried_out',
    });
    expect(server.peer.of('turn.send')).toEqual([]);
    const abort = new AbortController();
    const sent = failureOf(client.turn.send(send, abort.signal));
    await settle();
    abort.abort();
    expect(await sent).toMatchObject({ code: 'ABORTED', outcome: 'unknown' });
    const [request] = server.peer.of('turn.send');
    if (request) server.peer.answer(request, { status: 'accepted', receipt });
  });

  test('past the limit in flight is refused here', async () => {
    const { client } = await connected({ limits: { maxInFlight: 1 } });
    const first = client.focus.get();
    first.catch(() => undefined);
    expect(await failureOf(client.focus.get())).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    await client.close();
    expect(await failureOf(first)).toMatchObject({ code: 'CONNECTION_LOST' });
  });
});

describe('a lost connection', () => {
  test('leaves a mutation in doubt and never sends it again; a read is asked again', async () => {
    const { client, clock, server } = await connected();
    const sent = failureOf(client.turn.send(send));
    const read = client.receipt.get('k');
    await settle();
    server.onRequest = (peer, request) => peer.answer(request, { receipt });
    server.peer.drop();
    const failure = await sent;
    expect(failure).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(failure.message).toMatch(/same idempotency key.*receipt\.get/);
    await settle();
    clock.advance(100);
    expect(await read).toEqual(receipt);
    expect(server.peers).toHaveLength(2);
    expect(server.peers.flatMap((peer) => peer.of('turn.send'))).toHaveLength(1);
    expect(server.peers.flatMap((peer) => peer.of('receipt.get'))).toHaveLength(2);
  });

  test('lets a call wait for the next one, which is sent once', async () => {
    const { client, clock, server } = await connected();
    server.peer.drop();
    const sent = client.turn.send(send);
    server.onRequest = (peer, request) => peer.answer(request, { status: 'accepted', receipt });
    await settle();
    clock.advance(100);
    expect((await sent).status).toBe('accepted');
    expect(server.peer.of('turn.send')).toHaveLength(1);
  });

  test('is tried again with growing waits, and given up at the limit', async () => {
    const { client, clock, server } = await connected({ reconnect: { maxAttempts: 3 } });
    const news: string[] = [];
    client.on('connection', ({ state }) => news.push(state));
    server.isDown = true;
    server.peer.drop();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await settle();
      const dueMs = clock.nextDueMs() ?? 0;
      waits.push(dueMs - clock.nowMs());
      clock.advance(dueMs - clock.nowMs());
    }
    await settle();
    expect(waits).toEqual([50, 100, 200]);
    expect(news).toEqual(['lost', 'ended']);
    expect(await failureOf(client.focus.get())).toMatchObject({
      code: 'CONNECTION_LOST',
      outcome: 'not_carried_out',
    });
  });

  test('is the end where the device was revoked', async () => {
    const { client, clock, server } = await connected();
    server.onHello = (peer, hello) =>
      peer.answer(hello, { error: { code: 'REVOKED', message: 'revoked' } });
    server.peer.drop();
    await settle();
    clock.advance(100);
    await settle();
    expect(await failureOf(client.focus.get())).toMatchObject({ code: 'REVOKED' });
    expect(clock.nextDueMs()).toBeNull();
  });

  test('is the end where another machine answers', async () => {
    const { client, clock, server } = await connected();
    server.machineId = 'machine-2';
    server.peer.drop();
    await settle();
    clock.advance(100);
    await settle();
    expect(await failureOf(client.focus.get())).toMatchObject({ code: 'MACHINE_CHANGED' });
  });

  test('waits are bounded', () => {
    for (const attempt of [1, 2, 10, 1_000]) {
      const most = delayBefore(attempt, defaultReconnectLimits, 1);
      expect(most).toBeLessThanOrEqual(defaultReconnectLimits.maxDelayMs);
      expect(delayBefore(attempt, defaultReconnectLimits, 0)).toBeGreaterThanOrEqual(50);
    }
  });
});

describe('events', () => {
  test('are told once and in order over a resume', async () => {
    const { client, clock, server } = await connected();
    const seen: number[] = [];
    client.on('question.close', ({ eventId }) => seen.push(eventId));
    for (const id of [1, 2]) server.peer.send(server.event(id));
    server.onHello = (peer, hello) => {
      server.welcome(peer, hello);
      for (const id of [2, 3, 4]) peer.send(server.event(id));
    };
    server.serverInstanceId = 'instance-2';
    server.peer.drop();
    await settle();
    clock.advance(100);
    await settle();
    expect(server.peer.of('hello')[0]?.['resume']).toEqual({
      serverInstanceId: 'instance-1',
      cursor: 2,
    });
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(client.resumePoint).toEqual({ serverInstanceId: 'instance-2', cursor: 4 });
  });

  test('that come with the hello wait for the first who listens', async () => {
    const server = new ScriptedServer();
    server.onHello = (peer, hello) => {
      server.welcome(peer, hello);
      for (const id of [1, 2]) peer.send(server.event(id));
    };
    const { connector } = server;
    const resume = { serverInstanceId: 'instance-1', cursor: 0 };
    const client = await connectClient({ connector, resume, clock: new VirtualClock() });
    await settle();
    expect(client.resumePoint.cursor).toBe(0);
    const seen: number[] = [];
    client.on('unreadable', () => undefined);
    client.on('event', ({ eventId }) => seen.push(eventId));
    await settle();
    expect(seen).toEqual([1, 2]);
  });

  test('behind a resync: told, kept results come again, and the place waits for a newer event', async () => {
    const { client, clock, server } = await connected();
    const seen: (number | string)[] = [];
    client.on('event', ({ eventId }) => seen.push(eventId));
    client.on('resync', ({ reason }) => seen.push(reason));
    server.peer.send(server.event(5));
    server.serverInstanceId = 'instance-2';
    server.cursor = 9;
    server.onHello = (peer, hello) => {
      server.welcome(peer, hello, { resumed: false });
      const { cursor, serverInstanceId } = server;
      peer.send({ type: 'resync', reason: 'cursor_too_old', serverInstanceId, cursor });
      peer.send(server.event(3, 'turn.result', {}));
      peer.send(server.event(4));
    };
    const before = { serverInstanceId: 'instance-1', cursor: 5 };
    for (let round = 0; round < 2; round += 1) {
      server.peer.drop();
      await settle();
      clock.advance(300);
      await settle();
      expect(client.resumePoint).toEqual(before);
    }
    expect(seen).toEqual([5, 'cursor_too_old', 3, 'cursor_too_old', 3]);
    server.peer.send(server.event(10));
    expect(client.resumePoint).toEqual({ serverInstanceId: 'instance-2', cursor: 10 });
    server.peer.send(server.event(3, 'turn.result', {}));
    expect(seen.at(-1)).toBe(10);
  });

  test('property: whatever is repeated and whenever the connection is lost, each comes once, in order', async () => {
    const steps = fc.array(
      fc.oneof(fc.constant('drop' as const), fc.constant('next' as const), fc.nat(8)),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const { client, clock, server } = await connected();
        let newest = 0;
        const seen: number[] = [];
        client.on('event', ({ eventId }) => seen.push(eventId));
        server.onHello = (peer, hello) => {
          server.cursor = newest;
          server.welcome(peer, hello);
          const { cursor } = hello['resume'] as { readonly cursor: number };
          for (let id = Math.max(1, cursor - 1); id <= newest; id += 1) peer.send(server.event(id));
        };
        for (const step of script) {
          if (step === 'drop') {
            server.peer.drop();
            await settle();
            clock.advance(10_000);
            await settle();
          } else if (step === 'next') server.peer.send(server.event((newest += 1)));
          else if (step > 0 && step <= newest) server.peer.send(server.event(step));
        }
        expect(seen).toEqual(Array.from({ length: newest }, (_, index) => index + 1));
        await client.close();
      }),
      { numRuns: 60 },
    );
  });

  test('an iterator gives what came since it was made, with a bound', async () => {
    const { client, server } = await connected({ limits: { maxBufferedEvents: 2 } });
    const events = client.events({ kinds: ['question.close'] });
    for (const id of [1, 2, 3]) server.peer.send(server.event(id));
    const seen: number[] = [];
    const failure = await failureOf(
      (async () => {
        for await (const item of events) if (item.type === 'event') seen.push(item.eventId);
      })(),
    );
    expect(seen).toEqual([1, 2]);
    expect(failure.code).toBe('EVENTS_OVERFLOW');
  });

  test('an iterator ends with the client', async () => {
    const { client } = await connected();
    const events = client.events();
    const next = events.next();
    await client.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test('that cannot be read are told as that, and the place moves on', async () => {
    const { client, server } = await connected();
    const unreadable: object[] = [];
    client.on('unreadable', (event) => unreadable.push(event));
    server.peer.send(server.event(1, 'newer.kind'));
    server.peer.send(server.event(2, 'turn.done', { turnId: 7 }));
    server.peer.send({ type: 'newer.frame' });
    expect(unreadable).toEqual([
      { eventId: 1, kind: 'newer.kind', isKnownKind: false },
      { eventId: 2, kind: 'turn.done', isKnownKind: true },
    ]);
    expect(client.resumePoint.cursor).toBe(2);
  });

  test('a frame that is no JSON ends the connection, which is made again', async () => {
    const { clock, server } = await connected();
    server.peer.sendText('{');
    expect(server.peer.isClosed).toBe(true);
    await settle();
    clock.advance(100);
    await settle();
    expect(server.peers).toHaveLength(2);
  });
});

describe('a terminal', () => {
  const attached = async (limits = {}) => {
    const made = await connected({ limits });
    made.server.onRequest = (peer, request) => {
      if (request.type === 'agent.attach') {
        peer.send({ type: 'terminal', attachId: 'v', kind: 'output', data: btoa('early') });
        peer.answer(request, { attachId: 'v', cols: 80, rows: 24, paint: btoa('paint') });
        peer.send({ type: 'terminal', attachId: 'v', kind: 'output', data: btoa('behind') });
      } else if (request.type === 'agent.input') peer.answer(request, { outcome: 'passed_on' });
      else peer.answer(request, {});
    };
    return { ...made, view: await made.client.agent.attach({ agentId: 'a' }) };
  };
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  test('misses nothing between its paint and its first output', async () => {
    const { server, view } = await attached();
    expect(text(view.paint)).toBe('paint');
    server.peer.send({ type: 'terminal', attachId: 'v', kind: 'gone', exitCode: 0, signal: null });
    const seen: string[] = [];
    for await (const piece of view.output) {
      seen.push(piece.kind === 'output' ? text(piece.data) : piece.kind);
    }
    expect(seen).toEqual(['early', 'behind', 'gone']);
  });

  test('takes keys in their order, cut to what a frame may carry', async () => {
    const { server, view } = await attached();
    await Promise.all([view.write('x'.repeat(20_000)), view.write('y')]);
    const sent = server.peer.of('agent.input').map(({ data }) => atob(String(data)).length);
    expect(sent).toEqual([16_384, 3_616, 1]);
    const failure = await failureOf(view.write('z'.repeat(300_000)));
    expect(failure).toMatchObject({ code: 'WRITE_BACKPRESSURE', outcome: 'not_carried_out' });
    await view.detach();
    expect(server.peer.of('agent.detach')).toHaveLength(1);
  });

  test('ends with its connection, and where it is not read', async () => {
    const { server, view } = await attached();
    await view.output.next();
    await view.output.next();
    const next = failureOf(view.output.next());
    server.peer.drop();
    expect((await next).code).toBe('CONNECTION_LOST');
    const small = await attached({ maxBufferedTerminalBytes: 6 });
    await small.view.output.next();
    expect((await failureOf(small.view.output.next())).code).toBe('TERMINAL_OVERFLOW');
  });
});
