import { maxSubscriptionsCount, type StreamKind } from '@ostler/protocol';
import { type Clock, CodedError } from '@ostler/runtime';
import type { AgentSession } from '@ostler/service';

const allStreams: readonly StreamKind[] = ['tool', 'text', 'final'];

interface Subscription extends Disposable {
  readonly agentId: string;
}

/** What of agents' work one connection follows. Each ends by itself. */
export class Subscriptions implements Disposable {
  readonly #clock: Clock;
  readonly #tell: (message: object) => void;
  readonly #open = new Map<string, Subscription>();

  constructor(clock: Clock, tell: (message: object) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** When it ends, Unix epoch. Throws CodedError SUBSCRIPTION_LIMIT. */
  add(agent: AgentSession, include: readonly StreamKind[] | undefined, ttlMs: number): number {
    const { agentId } = agent;
    if (!this.#open.has(agentId) && this.#open.size >= maxSubscriptionsCount) {
      throw new CodedError(
        'SUBSCRIPTION_LIMIT',
        `a connection follows at most ${maxSubscriptionsCount} agents at a time`,
      );
    }
    this.remove(agentId);
    const kinds = new Set(include ?? allStreams);
    const stream = agent.onStream((message) => {
      if (kinds.has(message.stream)) this.#tell(message.event);
    });
    const timer = this.#clock.setTimer(ttlMs, () => this.remove(agentId));
    this.#open.set(agentId, {
      agentId,
      [Symbol.dispose]() {
        timer[Symbol.dispose]();
        stream[Symbol.dispose]();
      },
    });
    return this.#clock.nowMs() + ttlMs;
  }

  remove(agentId: string): void {
    this.#open.get(agentId)?.[Symbol.dispose]();
    this.#open.delete(agentId);
  }

  [Symbol.dispose](): void {
    for (const agentId of [...this.#open.keys()]) this.remove(agentId);
  }
}
