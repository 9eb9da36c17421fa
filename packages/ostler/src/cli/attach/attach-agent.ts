import { type AgentSummary, maxInputBytes, type TerminalFrame } from '@ostler/protocol';
import { CodedError, systemClock } from '@ostler/runtime';
import type { DaemonClient } from '../daemon-client.js';
import { targetOf } from '../find-agent.js';
import type { DetachKey } from './detach-key.js';
import { shown } from '../output.js';
import { PersonTerminal } from './person-terminal.js';
import { QueryFilter } from './query-filter.js';
import { sizeOf } from './terminal-size.js';

export type AttachEnded =
  | { readonly kind: 'detached' }
  | { readonly kind: 'gone'; readonly exitCode: number | null; readonly signal: number | null }
  | { readonly kind: 'daemon_gone' };

export interface AttachOptions {
  readonly detachKey: DetachKey;
  readonly readOnly: boolean;
}

/** How long the detach key is shown before the agent's screen takes its place. */
const noticeMs = 700;
const maxUnansweredInputs = 64;
const maxUnshownBytes = 1024 * 1024;
const cleared = '\u001b[0m\u001b[H\u001b[2J';
const bell = '\u0007';

/** Throws CodedError USAGE where there is no terminal to show it on. */
export function mustBeTerminal(): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new CodedError(
    'USAGE',
    'stdin and stdout must be a terminal; without one use: ostler run --detach, ostler send, ostler record',
  );
}

/** Shows the agent's terminal on this one, with keys and size going the other way, until it ends. */
export async function attachAgent(
  client: DaemonClient,
  agent: AgentSummary,
  { detachKey, readOnly }: AttachOptions,
): Promise<AttachEnded> {
  mustBeTerminal();
  const said = `${agent.name}: ${detachKey.name} detaches${readOnly ? '; only looking' : ''}`;
  const notice = shown(said);
  using person = new PersonTerminal();
  process.stdout.write(`${notice}\u001b]2;${notice}\u0007`);
  const session = new Attached(client, agent, readOnly, detachKey);
  try {
    return await session.run();
  } finally {
    session.end();
    person[Symbol.dispose]();
  }
}

class Attached {
  readonly #client: DaemonClient;
  readonly #agent: AgentSummary;
  readonly #readOnly: boolean;
  readonly #detachKey: DetachKey;
  readonly #filter = new QueryFilter();
  readonly #subscriptions: Disposable[] = [];
  readonly #early: TerminalFrame[] = [];
  readonly #ended: Promise<AttachEnded>;
  #finish: (ended: AttachEnded) => void = () => undefined;
  #attachId: string | null = null;
  #painted = false;
  #typedAhead = '';
  #unanswered = 0;

  constructor(client: DaemonClient, agent: AgentSummary, readOnly: boolean, detachKey: DetachKey) {
    this.#client = client;
    this.#agent = agent;
    this.#readOnly = readOnly;
    this.#detachKey = detachKey;
    this.#ended = new Promise((resolve) => (this.#finish = resolve));
    this.#subscriptions.push(
      client.pushed.on('terminal', (frame) => {
        if (this.#painted) this.#show(frame);
        else this.#early.push(frame);
      }),
      client.pushed.on('closed', () => this.#finish({ kind: 'daemon_gone' })),
    );
  }

  async run(): Promise<AttachEnded> {
    process.stdin.on('data', this.#typed);
    process.stdin.once('end', this.#left);
    const size = this.#readOnly ? {} : (sizeOf(process.stdout) ?? {});
    const [attached] = await Promise.all([
      this.#client.call('agent.attach', {
        ...targetOf(this.#agent),
        ...size,
        ...(this.#readOnly && { readOnly: true }),
      }),
      new Promise<void>((resolve) => void systemClock.setTimer(noticeMs, resolve)),
    ]);
    this.#attachId = attached.attachId;
    process.stdout.on('resize', this.#resized);
    this.#write(cleared + Buffer.from(attached.paint, 'base64').toString('latin1'));
    this.#painted = true;
    this.#send(this.#typedAhead);
    for (const frame of this.#early.splice(0)) this.#show(frame);
    return await this.#ended;
  }

  end(): void {
    process.stdin.off('data', this.#typed);
    process.stdin.off('end', this.#left);
    process.stdout.off('resize', this.#resized);
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  readonly #left = (): void => this.#finish({ kind: 'detached' });

  readonly #typed = (chunk: Buffer): void => {
    const typed = chunk.toString('latin1');
    const before = this.#detachKey.before(typed);
    this.#send(before ?? typed);
    if (before !== null) this.#finish({ kind: 'detached' });
  };

  readonly #resized = (): void => {
    const size = sizeOf(process.stdout);
    if (this.#readOnly || this.#attachId === null || size === null) return;
    this.#ask(this.#client.call('agent.size', { attachId: this.#attachId, ...size }));
  };

  #send(typed: string): void {
    if (this.#readOnly) return;
    if (this.#attachId === null) {
      if (this.#typedAhead.length + typed.length > maxInputBytes) process.stdout.write(bell);
      else this.#typedAhead += typed;
      return;
    }
    for (let at = 0; at < typed.length; at += maxInputBytes) {
      const part = Buffer.from(typed.slice(at, at + maxInputBytes), 'latin1');
      const fields = { attachId: this.#attachId, data: part.toString('base64') };
      this.#ask(this.#client.call('agent.input', fields));
    }
  }

  /** Keys that were refused are lost, and heard to be. */
  #ask(request: Promise<unknown>): void {
    this.#unanswered += 1;
    if (this.#unanswered >= maxUnansweredInputs) process.stdin.pause();
    request
      .catch(() => process.stdout.write(bell))
      .finally(() => {
        this.#unanswered -= 1;
        if (this.#unanswered === 0) process.stdin.resume();
      });
  }

  #show(frame: TerminalFrame): void {
    if (frame.attachId !== this.#attachId) return;
    if (frame.kind === 'output') this.#write(latin1(frame.data));
    else if (frame.kind === 'lost') this.#write(cleared + latin1(frame.paint));
    else if (frame.kind === 'gone') this.#finish(frame);
  }

  #write(text: string): void {
    process.stdout.write(Buffer.from(this.#filter.take(text), 'latin1'));
    if (process.stdout.writableLength > maxUnshownBytes) {
      this.#client.pauseUntil((resume) => process.stdout.once('drain', resume));
    }
  }
}

function latin1(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1');
}
