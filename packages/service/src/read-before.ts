import type { RestoredInput } from '@ostler/controller';
import type { EngineEvent } from '@ostler/engines';
import type { ConsumedInput, ConsumedInputs } from '@ostler/store';

/** What earlier processes read off an agent's record, for the next reading of the same record. */
export class ReadBefore {
  readonly #byRef: ReadonlyMap<string, ConsumedInput>;
  readonly #wholeSinceMs: number;

  constructor({ inputs, wholeSinceMs }: ConsumedInputs) {
    this.#byRef = new Map(inputs.map((input) => [input.inputRef, input]));
    this.#wholeSinceMs = wholeSinceMs;
  }

  /** The delivery that this entry of the record was seen to be, where one was. */
  deliveryOf(event: EngineEvent): string | undefined {
    if (event.kind !== 'input_consumed' || event.inputRef === null) return undefined;
    return this.#byRef.get(event.inputRef)?.deliveryId;
  }

  /**
   * The inputs, each with the entry it was seen consumed by, and told whether an equal text was on
   * its way beside it: which of the two a turn took is not remembered, and not guessed.
   */
  withTwins(restored: readonly RestoredInput[]): readonly RestoredInput[] {
    // When each was on its way: from its Enter until its entry was written. Of one that is settled
    // only the entry is remembered.
    const consumedAtMs = new Map(
      [...this.#byRef.values()].map(({ atMs, deliveryId }) => [deliveryId, atMs]),
    );
    const refs = new Map([...this.#byRef].map(([ref, { deliveryId }]) => [deliveryId, ref]));
    const spans = new Map<string, Span>();
    for (const { atMs, deliveryId, fingerprint } of this.#byRef.values()) {
      spans.set(deliveryId, { deliveryId, fingerprint, fromMs: 0, untilMs: atMs });
    }
    for (const { deliveryId, fingerprint, sinceMs } of restored) {
      const untilMs = consumedAtMs.get(deliveryId) ?? Number.POSITIVE_INFINITY;
      spans.set(deliveryId, { deliveryId, fingerprint, fromMs: sinceMs, untilMs });
    }
    return restored.map((input) => {
      const own = spans.get(input.deliveryId);
      const hasTwin =
        input.sinceMs < this.#wholeSinceMs ||
        [...spans.values()].some((other) => own !== undefined && areTwins(own, other));
      const consumedRef = refs.get(input.deliveryId);
      return {
        ...input,
        ...(hasTwin ? { hasTwin } : {}),
        ...(consumedRef === undefined ? {} : { consumedRef }),
      };
    });
  }
}

interface Span {
  readonly deliveryId: string;
  readonly fingerprint: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

function areTwins(one: Span, other: Span): boolean {
  return (
    one.deliveryId !== other.deliveryId &&
    one.fingerprint === other.fingerprint &&
    one.fromMs <= other.untilMs &&
    other.fromMs <= one.untilMs
  );
}
