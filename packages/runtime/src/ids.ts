/** Where identifiers come from; injected, so that a seeded run repeats exactly. */
export interface Ids {
  /** A UUIDv4. */
  uuid(): string;
}

export const randomIds: Ids = { uuid: () => globalThis.crypto.randomUUID() };

/** Ids that count up, for tests and simulations: valid as UUIDv4, equal in every run. */
export function sequentialIds(): Ids {
  let count = 0;
  return {
    uuid() {
      count += 1;
      return `00000000-0000-4000-8000-${count.toString(16).padStart(12, '0')}`;
    },
  };
}
