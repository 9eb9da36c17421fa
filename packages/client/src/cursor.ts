import type { ResultOf, ResyncFrame } from '@ostler/protocol';

/** Where a client stands among a server's events; hello's `resume`. */
export interface ResumePoint {
  readonly serverInstanceId: string;
  /** The id of the newest event that was taken. */
  readonly cursor: number;
}

/** A point no server knows: hello answers it with a resync, behind which all kept results come. */
export const beforeAllEvents: ResumePoint = { serverInstanceId: 'none', cursor: 0 };

export type EventStanding = 'new' | 'again' | 'old';

/**
 * Which events are new. Behind a resync the point stays where it was until an event newer than
 * the resync was taken: a connection lost in between asks for the kept results once more.
 */
export class EventCursor {
  #point: ResumePoint | null;
  #asked: ResumePoint | null = null;
  #resync: ResumePoint | null = null;

  constructor(point: ResumePoint | null) {
    this.#point = point;
  }

  get point(): ResumePoint | null {
    return this.#point;
  }

  /** What this hello asks to resume from. */
  ask(): ResumePoint | null {
    this.#asked = this.#point;
    return this.#asked;
  }

  welcome({ cursor, resumed, serverInstanceId }: ResultOf<'hello'>): void {
    this.#resync = null;
    if (!this.#asked) this.#point = { serverInstanceId, cursor };
    else if (resumed) this.#point = { serverInstanceId, cursor: this.#asked.cursor };
    // Until the resync says so: nothing newer than what the server has now was taken.
    else this.#resync = { serverInstanceId, cursor };
  }

  resync({ cursor, serverInstanceId }: ResyncFrame): void {
    this.#resync = { serverInstanceId, cursor };
  }

  /** `again`: a kept result behind a resync, perhaps taken before. `old`: taken already. */
  take(eventId: number): EventStanding {
    if (this.#resync) {
      if (eventId <= this.#resync.cursor) return 'again';
      this.#point = { ...this.#resync, cursor: eventId };
      this.#resync = null;
      return 'new';
    }
    if (!this.#point || eventId <= this.#point.cursor) return 'old';
    this.#point = { ...this.#point, cursor: eventId };
    return 'new';
  }
}
