import type { DraftMatch } from '@ostler/engines';

/** What one fresh look says, reduced to what the machine decides by. */
export interface Observation {
  /** The very process that was launched is alive. */
  readonly alive: boolean;
  /** The engine knows this screen. False for half-painted frames too. */
  readonly readable: boolean;
  /** A known dialog or state that forbids typing. */
  readonly hold: string | null;
  /** Typing now would overtake something the engine holds back. */
  readonly overtakes: string | null;
  /** A composer that takes keys is on the screen. */
  readonly composer: boolean;
  /** The composer's draft against the active input. */
  readonly draft: DraftMatch;
  /** The draft is the text accepted last: the engine has it and has yet to redraw. */
  readonly draftIsAccepted: boolean;
  readonly busy: boolean;
  /** When it last read so, monotonic; negative infinity where it never did. */
  readonly busyAtMs: number;
  /** The engine's visible queue holds one more copy of the active input than before the Enter. */
  readonly queueShowsActive: boolean;
  /** Output has been parsed since the last Enter was written. */
  readonly newerThanEnter: boolean;
  /** A person's keys have gone out since the paste: what became of it may be their doing. */
  readonly personTyped: boolean;
  /** How long ago a person's keys went out, as far as it was noticed; infinite where none did. */
  readonly personTypedAgoMs: number;
  /** A person's draft is put away and comes back with the next submission. */
  readonly stashed: boolean;
  /** No form of the text keeps its meaning on this screen. */
  readonly refusal: { readonly reason: string; readonly message: string } | null;
  /** Monotonic. */
  readonly atMs: number;
  /** The same moment, Unix epoch. */
  readonly nowMs: number;
}

/** Why nothing may be typed now, by name, or null when the way is free. */
export function blockedBy(seen: Observation): string | null {
  if (seen.hold) return seen.hold;
  if (!seen.readable) return 'unreadable';
  if (!seen.composer) return 'no_composer';
  return null;
}

/** Holds that end by themselves or with a person's draft; every other one is a person's to close. */
const writerHolds: ReadonlySet<string> = new Set([
  'foreign_draft',
  'person_typing',
  'redraw_pending',
  'turn_starting',
  'follow_up_queue',
  'starting',
  'no_composer',
  'unconfirmed_input',
  'unresolved_limit',
]);

export function waitingPhase(hold: string): 'waiting_for_writer' | 'waiting_for_user' {
  return writerHolds.has(hold) ? 'waiting_for_writer' : 'waiting_for_user';
}
