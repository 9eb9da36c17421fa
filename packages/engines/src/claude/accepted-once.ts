import { claudeFingerprint } from './fingerprint.js';

/** Distinct texts remembered; the oldest go first. */
const maxTexts = 4_096;

interface Counts {
  hook: number;
  record: number;
  told: number;
}

/**
 * A queued input is told twice, by its hook and by the record's `enqueue`, in
 * either order and without an id. Of each text as many are let through as the
 * source that has seen more of them has seen.
 */
export class AcceptedOnce {
  readonly #texts = new Map<string, Counts>();

  admits(event: {
    readonly text: string;
    readonly evidence: 'hook' | 'record' | 'native';
  }): boolean {
    const key = claudeFingerprint(event.text);
    const counts = this.#texts.get(key) ?? { hook: 0, record: 0, told: 0 };
    this.#texts.delete(key);
    this.#texts.set(key, counts);
    const oldest = this.#texts.keys().next().value;
    if (this.#texts.size > maxTexts && oldest !== undefined) this.#texts.delete(oldest);
    counts[event.evidence === 'hook' ? 'hook' : 'record'] += 1;
    if (Math.max(counts.hook, counts.record) <= counts.told) return false;
    counts.told += 1;
    return true;
  }
}
