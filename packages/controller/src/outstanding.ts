import type { EvidenceKind, InputMode } from '@ostler/protocol';

/** One dispatched input and what has been seen of it. */
export interface Outstanding {
  readonly deliveryId: string;
  readonly fingerprint: string;
  readonly mode: InputMode;
  /**
   * Unix epoch; evidence older than this is somebody else's. The time of the paste, and from our
   * Enter on that of the Enter, unless a person typed in between.
   */
  readonly sinceMs: number;
  /** Kinds of acceptance already credited to this input. */
  readonly credited: readonly EvidenceKind[];
  readonly accepted: boolean;
  /** Nothing newer than its doubt tells whether the engine has it. */
  readonly doubted: boolean;
  /** The engine gave it back then (Unix epoch): an acceptance from before says nothing any more. */
  readonly withdrawnAtMs: number | null;
  readonly consumed: boolean;
  readonly inputRef: string | null;
  readonly turnRef: string | null;
  /**
   * How the record's entry is tied to this input. `own`: no equal text was on its way. `shared`:
   * one was, so the entries belong to them together. `lost`: one of those has ended without the others.
   */
  readonly tie: 'own' | 'shared' | 'lost';
}

export interface AcceptanceEvidence {
  readonly kind: 'accepted' | 'consumed';
  readonly fingerprint: string;
  readonly evidence: Exclude<EvidenceKind, 'composer_left' | 'queue_shown'>;
  readonly inputRef: string | null;
  readonly turnRef: string | null;
  /** The engine's time of the entry, Unix epoch. */
  readonly atMs: number;
  /** An earlier process credited this very entry to this delivery, and to nobody else. */
  readonly deliveryId?: string;
}

/** The error of an input that the engine gave back. */
export const withdrawnCode = 'NOT_CONFIRMED';

/** Engines stamp entries in whole milliseconds from their own clock reading. */
export const stampToleranceMs = 2;

/**
 * The input this evidence belongs to: the oldest with an equal fingerprint that
 * has not yet been credited with evidence of the kind. Evidence from before its
 * `sinceMs` never counts, nor does that of another entry than the one it is known by. Where one of several with an equal fingerprint is in doubt,
 * nothing tells whose it is, and nobody is credited.
 */
export function matchEvidence(
  outstanding: readonly Outstanding[],
  seen: AcceptanceEvidence,
): Outstanding | null {
  if (seen.deliveryId !== undefined) {
    const known = outstanding.find(({ deliveryId }) => deliveryId === seen.deliveryId);
    return known && !known.consumed ? known : null;
  }
  const [first, ...others] = outstanding.filter(
    (input) =>
      input.fingerprint === seen.fingerprint &&
      seen.atMs + stampToleranceMs >= input.sinceMs &&
      (input.inputRef === null || seen.inputRef === null || input.inputRef === seen.inputRef) &&
      (seen.kind === 'consumed' ? !input.consumed : !input.credited.includes(seen.evidence)),
  );
  if (!first) return null;
  const inDoubt = [first, ...others].some(({ doubted }) => doubted);
  if (inDoubt && others.length > 0) return null;
  return first;
}

/** `input` with the evidence credited to it. */
function credit(input: Outstanding, seen: AcceptanceEvidence): Outstanding {
  const consumed = input.consumed || seen.kind === 'consumed';
  return {
    ...input,
    credited: [...input.credited, seen.evidence],
    accepted: true,
    doubted: input.doubted && !consumed && !isNewerThanWithdrawal(input, seen),
    consumed,
    inputRef: (consumed ? seen.inputRef : null) ?? input.inputRef,
    turnRef: seen.turnRef ?? input.turnRef,
  };
}

/** Entries may be read out of their order: what counts is when the engine wrote them. */
const isNewerThanWithdrawal = ({ withdrawnAtMs }: Outstanding, { atMs }: AcceptanceEvidence) =>
  withdrawnAtMs === null || atMs > withdrawnAtMs;

/** All inputs after `seen` was credited to `match`: a start ties equal texts still on their way together. */
export function creditAmong(
  outstanding: readonly Outstanding[],
  match: Outstanding,
  seen: AcceptanceEvidence,
): readonly Outstanding[] {
  const twins =
    seen.kind === 'consumed'
      ? outstanding.filter(
          (input) =>
            isTwin(input, match) &&
            !input.consumed &&
            input.inputRef === null &&
            // One that was not on its way yet can't be this entry's.
            seen.atMs + stampToleranceMs >= input.sinceMs,
        )
      : [];
  return outstanding.map((input) => {
    const next = input === match ? credit(input, seen) : input;
    const shared = twins.length > 0 && (input === match || twins.includes(input));
    return shared && next.tie === 'own' ? { ...next, tie: 'shared' } : next;
  });
}

const isTwin = (input: Outstanding, other: Outstanding): boolean =>
  input !== other && input.fingerprint === other.fingerprint;

export interface EndedInput {
  readonly input: Outstanding;
  /** False: equal texts went to different turns, and nothing tells which to which. */
  readonly told: boolean;
}

/** The members of a turn by its record's entries, and what is left on its way. */
export function endTurn(
  outstanding: readonly Outstanding[],
  inputRefs: readonly string[],
): { readonly ended: readonly EndedInput[]; readonly left: readonly Outstanding[] } {
  const isNamed = ({ inputRef }: Outstanding): boolean =>
    inputRef !== null && inputRefs.includes(inputRef);
  const sharers = (input: Outstanding): readonly Outstanding[] =>
    outstanding.filter((other) => isTwin(other, input) && other.tie === 'shared');
  const members = outstanding.filter(isNamed);
  const ended = members.map((input) => ({
    input,
    told: input.tie === 'own' || (input.tie === 'shared' && sharers(input).every(isNamed)),
  }));
  const untold = ended.filter(({ told }) => !told);
  const left = outstanding
    .filter((input) => !isNamed(input))
    .map(
      (input): Outstanding =>
        input.tie === 'shared' && untold.some((end) => isTwin(end.input, input))
          ? { ...input, tie: 'lost' }
          : input,
    );
  return { ended, left };
}

/** Inputs the engine has taken without their consumption having been seen. */
export function unresolvedCount(outstanding: readonly Outstanding[]): number {
  return outstanding.reduce((count, input) => count + (input.consumed ? 0 : 1), 0);
}
