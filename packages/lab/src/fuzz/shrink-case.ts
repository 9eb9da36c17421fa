import type { FuzzCase, Verdict } from './fuzz-case.js';
import { checkCase } from './fuzz.js';

const maxRuns = 600;

/** The parts a case can do without, and the case with some of them only. */
function partsOf(test: FuzzCase): readonly unknown[] {
  switch (test.kind) {
    case 'garbage':
    case 'framing':
      return test.pieces;
    case 'recording':
    case 'records':
      return test.edits;
    case 'bodies':
      return test.texts;
    case 'frames':
      return test.frames;
  }
}

function withParts(test: FuzzCase, parts: readonly unknown[]): FuzzCase {
  const name =
    test.kind === 'garbage' || test.kind === 'framing'
      ? 'pieces'
      : test.kind === 'bodies'
        ? 'texts'
        : test.kind === 'frames'
          ? 'frames'
          : 'edits';
  return { ...test, [name]: parts } as FuzzCase;
}

/** The smallest case found that still shows a fault: parts are left out, then texts shortened. */
export async function shrinkCase(test: FuzzCase): Promise<FuzzCase> {
  let runs = 0;
  const fault = sortOf(await checkCase(test));
  const fails = async (candidate: FuzzCase): Promise<boolean> => {
    runs += 1;
    return runs <= maxRuns && sortOf(await checkCase(candidate)) === fault;
  };
  if (fault === null) return test;
  let best = test;
  let size = Math.ceil(partsOf(best).length / 2);
  while (size >= 1) {
    const smaller = await withoutSome(best, size, fails);
    if (smaller) best = smaller;
    else size = Math.floor(size / 2);
  }
  if (best.kind === 'garbage' || best.kind === 'bodies') best = await shortened(best, fails);
  return best;
}

/** What is told of a fault but its figures and quotations: a smaller case has to show the same. */
function sortOf(verdict: Verdict): string | null {
  return verdict?.replace(/[“"].*[”"]|\d+/g, '').slice(0, 90) ?? null;
}

type Fails = (candidate: FuzzCase) => Promise<boolean>;

async function withoutSome(test: FuzzCase, size: number, fails: Fails): Promise<FuzzCase | null> {
  const parts = partsOf(test);
  if (parts.length <= 1) return null;
  for (let from = 0; from < parts.length; from += size) {
    const candidate = withParts(test, [...parts.slice(0, from), ...parts.slice(from + size)]);
    if (await fails(candidate)) return candidate;
  }
  return null;
}

async function shortened(test: FuzzCase, fails: Fails): Promise<FuzzCase> {
  let best = test;
  for (const index of partsOf(best).keys()) {
    for (let size = 256; size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; ; ) {
        const parts = partsOf(best);
        const part = parts[index];
        if (typeof part !== 'string' || from >= part.length) break;
        const less = part.slice(0, from) + part.slice(from + size);
        const candidate = withParts(best, parts.with(index, less));
        if (less !== '' && (await fails(candidate))) best = candidate;
        else from += size;
      }
    }
  }
  return best;
}
