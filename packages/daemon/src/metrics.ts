import type { Counter } from '@opentelemetry/api';

const descriptions = {
  connections_opened: 'connections taken',
  connections_refused: 'connections refused',
  requests: 'requests answered',
  requests_refused: 'requests answered with an error',
  rate_limited: 'requests over their connection’s rate',
  wrong_tokens: 'tokens that are nobody’s',
  slow_consumers: 'connections ended because their peer read too slowly',
  broken_frames: 'frames that were too large or no JSON',
  events: 'events told',
  agents_launched: 'agents started',
  agents_adopted: 'agents taken over from an earlier daemon',
} as const;

export type MetricName = keyof typeof descriptions;

/**
 * Counts, for `server.status` and for OpenTelemetry: through its API package alone, so that they
 * go wherever the embedding process exports to, and nowhere by default.
 */
export class Metrics {
  readonly #counts = new Map<MetricName, number>();
  readonly #counters = new Map<MetricName, Counter>();

  /**
   * Counts to OpenTelemetry as well from here on, what was counted before included. Its package
   * is loaded now and not before: a daemon serves sooner without.
   */
  async export(): Promise<void> {
    const { metrics } = await import('@opentelemetry/api');
    const meter = metrics.getMeter('ostler');
    for (const [name, description] of Object.entries(descriptions)) {
      const counter = meter.createCounter(`ostler.${name}`, { description });
      this.#counters.set(name as MetricName, counter);
      const count = this.#counts.get(name as MetricName) ?? 0;
      if (count > 0) counter.add(count);
    }
  }

  add(name: MetricName, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
    this.#counters.get(name)?.add(count);
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
