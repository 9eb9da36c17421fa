import type { MemoryInboxStorage } from '../memory-inbox-storage.js';
import type { ResultInboxStorage } from '../inbox-storage.js';

export class Crash extends Error {}

/**
 * The same storage, that crashes at its `crashAt`th writing step: before the step is written or
 * behind it, its answer lost. Everything after it fails too, as in a process that has gone.
 */
export function crashing(
  kept: MemoryInboxStorage,
  crashAt: number,
  when: 'before' | 'behind',
): ResultInboxStorage & { readonly hasCrashed: boolean } {
  let steps = 0;
  let hasCrashed = false;
  const wrap =
    <Values extends readonly unknown[], Result>(step: (...values: Values) => Promise<Result>) =>
    async (...values: Values): Promise<Result> => {
      if (hasCrashed) throw new Crash();
      steps += 1;
      if (steps !== crashAt) return await step.apply(kept, values as never);
      if (when === 'behind') await step.apply(kept, values as never);
      hasCrashed = true;
      throw new Crash();
    };
  return {
    get hasCrashed() {
      return hasCrashed;
    },
    addKey: wrap(kept.addKey),
    key: wrap(kept.key),
    setDelivery: wrap(kept.setDelivery),
    rejectKey: wrap(kept.rejectKey),
    openKeys: wrap(kept.openKeys),
    result: wrap(kept.result),
    storeResult: wrap(kept.storeResult),
    utterances: wrap(kept.utterances),
    moveUtterance: wrap(kept.moveUtterance),
    doubtPlaying: wrap(kept.doubtPlaying),
    resumePoint: wrap(kept.resumePoint),
    setResumePoint: wrap(kept.setResumePoint),
    prune: wrap(kept.prune),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
