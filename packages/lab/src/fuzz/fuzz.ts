import { CodedError } from '@ostler/runtime';
import { type Chance, chance } from '../simulation/random.js';
import { checkBodies, makeBodies } from './bodies.js';
import { checkFrames, makeFrames } from './frames.js';
import { checkFraming, makeFraming } from './framing.js';
import {
  type FuzzCase,
  type FuzzKind,
  type FuzzTally,
  noTally,
  type Verdict,
} from './fuzz-case.js';
import { checkGarbage, makeGarbage } from './garbage.js';
import { heapInUseBytes } from './memory.js';
import { checkMutatedRecord, makeMutatedRecord } from './mutated-record.js';
import { checkMutatedRecording, makeMutatedRecording } from './mutated-recording.js';

const kinds: readonly FuzzKind[] = [
  'garbage',
  'recording',
  'records',
  'bodies',
  'frames',
  'framing',
];
/** What each kind adds to; a kind whose amount is reached is left out. */
const counted: Readonly<Record<FuzzKind, keyof FuzzTally>> = {
  garbage: 'bytes',
  recording: 'bytes',
  records: 'records',
  bodies: 'bodies',
  frames: 'frames',
  framing: 'frames',
};
const heapEveryCases = 500;
/** What a run may keep: caches of recordings and of compiled code, nothing that grows. */
const maxHeapGrowthBytes: number = 96 * 1024 * 1024;

/** The case of one seed: the same on every machine. */
export function makeCase(seed: number): FuzzCase {
  const dice = chance(seed, 'case');
  const make: Readonly<Record<FuzzKind, (dice: Chance) => FuzzCase>> = {
    garbage: makeGarbage,
    recording: makeMutatedRecording,
    records: makeMutatedRecord,
    bodies: makeBodies,
    frames: makeFrames,
    framing: makeFraming,
  };
  return make[kindOf(seed)](dice);
}

function kindOf(seed: number): FuzzKind {
  return kinds[seed % kinds.length] ?? 'garbage';
}

/** Null where the case shows no fault. Whatever is thrown is one, but an error with a code. */
export async function checkCase(test: FuzzCase, tally: FuzzTally = noTally()): Promise<Verdict> {
  const cuts = chance(JSON.stringify(test).length, 'cuts');
  try {
    switch (test.kind) {
      case 'garbage':
        return await checkGarbage(test, cuts, tally);
      case 'recording':
        return await checkMutatedRecording(test, cuts, tally);
      case 'records':
        return await checkMutatedRecord(test, cuts, tally);
      case 'bodies':
        return await checkBodies(test, cuts, tally);
      case 'frames':
        return checkFrames(test, tally);
      case 'framing':
        return checkFraming(test, tally);
    }
  } catch (failure) {
    if (failure instanceof CodedError) return null;
    return `threw ${failure instanceof Error ? (failure.stack ?? failure.message).split('\n').slice(0, 3).join(' ') : String(failure)}`;
  }
}

export interface FuzzFault {
  readonly seed: number;
  readonly fault: string;
}

export interface FuzzRun {
  readonly cases: number;
  readonly tally: FuzzTally;
  readonly faults: readonly FuzzFault[];
}

export interface FuzzOptions {
  readonly from: number;
  /** Seeds apart; with two workers each takes every second block of kinds. */
  readonly stride: number;
  /** How much of each is wanted. */
  readonly amounts: FuzzTally;
  readonly maxFaults: number;
  readonly onCase?: (tally: FuzzTally) => void;
}

/** Tries cases of every kind until there was enough of each. */
export async function fuzz(options: FuzzOptions): Promise<FuzzRun> {
  const { amounts, from, maxFaults, stride } = options;
  const tally = noTally();
  const faults: FuzzFault[] = [];
  let cases = 0;
  let heapBefore = 0;
  for (let block = from; faults.length < maxFaults; block += stride) {
    const wanted = kinds.filter((kind) => tally[counted[kind]] < amounts[counted[kind]]);
    if (wanted.length === 0) break;
    for (const kind of wanted) {
      const seed = block * kinds.length + kinds.indexOf(kind);
      const fault = await checkCase(makeCase(seed), tally);
      cases += 1;
      if (fault !== null) faults.push({ seed, fault });
      if (cases % heapEveryCases === 0) {
        const heap = heapInUseBytes();
        if (heapBefore === 0) heapBefore = heap;
        else if (heap > heapBefore + maxHeapGrowthBytes)
          faults.push({
            seed,
            fault: `${heap - heapBefore} bytes more are in use than after the first cases`,
          });
      }
      options.onCase?.(tally);
    }
  }
  return { cases, tally, faults };
}
