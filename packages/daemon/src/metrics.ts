import { type Counter, metrics as otel } from '@opentelemetry/api';

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

  constructor() {
    const meter = otel.getMeter('ostler');
    for (const [name, description] of Object.entries(descriptions)) {
      this.#counters.set(
        name as MetricName,
        meter.createCounter(`ostler.${name}`, { description }),
      );
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
