import type { Checks, Invariant } from './invariant.js';
import { receiptInvariants } from './invariants-of-receipts.js';
import { writeInvariants } from './invariants-of-writes.js';

/** Everything that holds under every schedule. */
export const invariants: readonly Invariant[] = [...writeInvariants, ...receiptInvariants];

type Found = { readonly name: string; readonly what: string };

/** The first invariant that a fact breaks. */
export function broken<Kind extends keyof Checks>(
  kind: Kind,
  fact: Parameters<Checks[Kind]>[0],
): Found | null {
  for (const { name, check } of checksOf(kind)) {
    const what = check(fact);
    if (what !== null) return { name, what };
  }
  return null;
}

type NamedCheck<Kind extends keyof Checks> = {
  readonly name: string;
  readonly check: (fact: Parameters<Checks[Kind]>[0]) => string | null;
};
const byKind = new Map<keyof Checks, readonly NamedCheck<keyof Checks>[]>();

function checksOf<Kind extends keyof Checks>(kind: Kind): readonly NamedCheck<Kind>[] {
  let found = byKind.get(kind);
  if (!found) {
    found = invariants.flatMap(({ name, checks }) => {
      const check = checks[kind];
      return check ? [{ name, check: check as NamedCheck<keyof Checks>['check'] }] : [];
    });
    byKind.set(kind, found);
  }
  return found as readonly NamedCheck<Kind>[];
}
