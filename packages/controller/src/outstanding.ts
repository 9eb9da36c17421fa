import type { EvidenceKind, InputMode } from '@ostler/protocol';

/** One dispatched input and what has been seen of it. */
export interface Outstanding {
  readonly deliveryId: string;
  readonly fingerprint: string;
  readonly mode: InputMode;
  /** Unix epoch; evidence older than this is somebody else's. */
  readonly pastedAtMs: number;
  /** Kinds of acceptance already credited to this input. */
  readonly credited: readonly EvidenceKind[];
  readonly accepted: boolean;
  /** It was left without any sign of acceptance: the engine may have it or not. */
  readonly doubted: boolean;
  readonly consumed: boolean;
  readonly inputRef: string | null;
  readonly turnRef: string | null;
}

export interface AcceptanceEvidence {
  readonly kind: 'accepted' | 'consumed';
  readonly fingerprint: string;
  readonly evidence: Exclude<EvidenceKind, 'composer_left' | 'queue_shown'>;
  readonly inputRef: string | null;
  readonly turnRef: string | null;
  /** The engine's time of the entry, Unix epoch. */
  readonly atMs: number;
}

/** Engines stamp entries in whole milliseconds from their own clock reading. */
const stampToleranceMs = 2;

/**
 * The input this evidence belongs to: the oldest with an equal fingerprint that
 * has not yet been credited with evidence of the kind. Evidence from before its
 * paste never counts. Where one of several with an equal fingerprint is in doubt,
 * nothing tells whose it is, and nobody is credited. `alone` is false where an equal
 * one waits as well: then nothing tells whose the turn's end will be.
 */
export function matchEvidence(
  outstanding: readonly Outstanding[],
  seen: AcceptanceEvidence,
): { readonly input: Outstanding; readonly alone: boolean } | null {
  const [first, ...others] = outstanding.filter(
    (input) =>
      input.fingerprint === seen.fingerprint &&
      seen.atMs + stampToleranceMs >= input.pastedAtMs &&
      (seen.kind === 'consumed' ? !input.consumed : !input.credited.includes(seen.evidence)),
  );
  if (!first) return null;
  const inDoubt = [first, ...others].some(({ accepted, doubted }) => doubted && !accepted);
  if (inDoubt && others.length > 0) return null;
  return { input: first, alone: others.length === 0 };
}

export function credit(input: Outstanding, seen: AcceptanceEvidence, alone: boolean): Outstanding {
  const consumed = input.consumed || seen.kind === 'consumed';
  return {
    ...input,
    credited: [...input.credited, seen.evidence],
    accepted: true,
    consumed,
    inputRef: (consumed && alone ? seen.inputRef : null) ?? input.inputRef,
    turnRef: seen.turnRef ?? input.turnRef,
  };
}

/** Inputs the engine has taken without their consumption having been seen. */
export function unresolvedCount(outstanding: readonly Outstanding[]): number {
  return outstanding.reduce((count, input) => count + (input.consumed ? 0 : 1), 0);
}
