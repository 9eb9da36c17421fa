import { describe, expect, test } from 'vitest';
import { GuardedWriter, type LeaseToken } from './guarded-writer.js';
import type { WriteGate, WriteOutcome } from './pty-endpoint.js';

/** Carries writes out when told to, one after the other. */
class SlowEndpoint {
  readonly log: string[] = [];
  readonly #waiting: (() => void)[] = [];
  held = false;

  write(data: Uint8Array, mayWrite?: WriteGate): Promise<WriteOutcome> {
    return new Promise((resolve) => {
      const go = (): void => {
        if (mayWrite?.() === false) {
          resolve({ kind: 'nothing_written', reason: 'stale_token' });
          return;
        }
        this.log.push(Buffer.from(data).toString());
        resolve({ kind: 'carried_out' });
      };
      if (this.held) this.#waiting.push(go);
      else go();
    });
  }

  letGo(): void {
    this.held = false;
    for (const go of this.#waiting.splice(0)) go();
  }
}

function setUp(brackets = true): { endpoint: SlowEndpoint; writer: GuardedWriter } {
  const endpoint = new SlowEndpoint();
  const writer = new GuardedWriter({
    endpoint,
    bracketedPaste: () => brackets,
    limits: { maxHeldPersonBytes: 8 },
  });
  return { endpoint, writer };
}

describe('leases', () => {
  test('numbers rise and only the newest may write', async () => {
    const { endpoint, writer } = setUp();
    const old = writer.acquire();
    const current = writer.acquire();
    expect(current).toBeGreaterThan(old);
    expect(await writer.write(old, 'old')).toEqual({ kind: 'refused', reason: 'stale_token' });
    expect(await writer.enter(current)).toEqual({ kind: 'carried_out' });
    writer.release(old);
    expect(writer.leased).toBe(true);
    writer.release(current);
    expect(await writer.enter(current)).toEqual({ kind: 'refused', reason: 'stale_token' });
    expect(await writer.enter(0 as LeaseToken)).toEqual({ kind: 'refused', reason: 'stale_token' });
    expect(endpoint.log).toEqual(['\r']);
  });

  test('a token that goes stale while its write waits writes nothing', async () => {
    const { endpoint, writer } = setUp();
    endpoint.held = true;
    const old = writer.acquire();
    const pasted = writer.paste(old, ['late']);
    writer.acquire();
    endpoint.letGo();
    expect(await pasted).toEqual({ kind: 'refused', reason: 'stale_token' });
    expect(endpoint.log).toEqual([]);
  });
});

describe('paste', () => {
  test('frames go out in brackets of their own, in one write', async () => {
    const { endpoint, writer } = setUp();
    const token = writer.acquire();
    await writer.paste(token, ['one\ntwo', 'three']);
    await writer.enter(token);
    expect(endpoint.log).toEqual([
      '\u001b[200~one\ntwo\u001b[201~\u001b[200~three\u001b[201~',
      '\r',
    ]);
  });

  test('without mode 2004 one line goes out plain, several are refused', async () => {
    const { endpoint, writer } = setUp(false);
    const token = writer.acquire();
    expect(await writer.paste(token, ['a', 'b'])).toEqual({ kind: 'carried_out' });
    expect(await writer.paste(token, ['a\nb'])).toEqual({
      kind: 'refused',
      reason: 'lines_without_brackets',
    });
    expect(endpoint.log).toEqual(['ab']);
  });

  test.each(['a\u001b[201~b', 'a\rb', 'a\u009bb', 'a\u0003'])('%j is refused', async (frame) => {
    const { endpoint, writer } = setUp();
    const token = writer.acquire();
    expect(await writer.paste(token, ['fine', frame])).toEqual({
      kind: 'refused',
      reason: 'control_in_paste',
    });
    expect(endpoint.log).toEqual([]);
  });
});

describe('a person', () => {
  test('types through while nobody has the lease', async () => {
    const { endpoint, writer } = setUp();
    const input = writer.personInput('hi');
    expect(input.kind === 'passed_on' && (await input.written)).toEqual({ kind: 'carried_out' });
    expect(endpoint.log).toEqual(['hi']);
  });

  test('is held back during a lease, and released whole and in order after it', async () => {
    const { endpoint, writer } = setUp();
    const first = writer.acquire();
    expect(writer.personInput('\u001b[A')).toEqual({ kind: 'held' });
    await writer.paste(first, ['ours']);
    expect(writer.personInput('xyz')).toEqual({ kind: 'held' });
    expect(writer.personInput('too much')).toEqual({ kind: 'refused', reason: 'held_limit' });
    const second = writer.acquire();
    writer.release(first);
    expect(endpoint.log).toHaveLength(1);
    await writer.enter(second);
    writer.release(second);
    expect(endpoint.log.slice(1)).toEqual(['\r', '\u001b[Axyz']);
    expect(writer.personInput('12345678').kind).toBe('passed_on');
  });
});

test('held keys that cannot go out are reported', async () => {
  const lost = new Promise((resolve) => {
    const writer = new GuardedWriter({
      endpoint: {
        write: () => Promise.resolve({ kind: 'nothing_written', reason: 'pty_closed' }),
      },
      bracketedPaste: () => true,
      onWritten: () => expect.unreachable(),
      onHeldLost: resolve,
    });
    const token = writer.acquire();
    writer.personInput('x');
    writer.release(token);
  });
  expect(await lost).toEqual({ kind: 'nothing_written', reason: 'pty_closed' });
});

test("the terminal's replies pass during a lease, between writes", async () => {
  const { endpoint, writer } = setUp();
  const token = writer.acquire();
  endpoint.held = true;
  const pasted = writer.paste(token, ['a', 'b']);
  const replied = writer.reply('\u001b[0n');
  endpoint.letGo();
  await Promise.all([pasted, replied]);
  expect(endpoint.log).toEqual(['\u001b[200~a\u001b[201~\u001b[200~b\u001b[201~', '\u001b[0n']);
});
