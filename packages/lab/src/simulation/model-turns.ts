import type { Clock, Timer } from '@ostler/runtime';
import { type Piece, textOf } from './model-draft.js';
import type { ModelRecord } from './model-record.js';
import type { EnginePlan } from './plan.js';
import type { Witness } from './witness.js';

interface Submitted {
  readonly ref: string;
  readonly pieces: readonly Piece[];
}

interface Turn {
  readonly ref: string;
  readonly members: Submitted[];
}

interface TurnsParts {
  readonly plan: EnginePlan;
  readonly clock: Clock;
  readonly record: ModelRecord;
  readonly witness: Pick<Witness, 'consumed' | 'withdrawn' | 'turnEnded' | 'note'>;
  readonly turnMs: () => number;
  /** A dialog at the turn's end holds the queue until it is closed. */
  readonly modalOpen: () => boolean;
  readonly onChange: () => void;
}

const calmTurnMs = 200;

const answerOf = ({ ref }: Turn): string => `the answer of ${ref}`;

/** Turns, and what waits in the engine for one. */
export class ModelTurns {
  readonly #parts: TurnsParts;
  #turn: Turn | null = null;
  #waiting: Submitted[] = [];
  #inputs = 0;
  #turns = 0;
  #endTimer: Timer | null = null;
  #boundaryTimer: Timer | null = null;
  #calm = false;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  get busy(): boolean {
    return this.#turn !== null;
  }

  get waiting(): readonly Submitted[] {
    return this.#waiting;
  }

  submit(pieces: readonly Piece[]): void {
    const { record } = this.#parts;
    this.#inputs += 1;
    const input = { ref: `input-${this.#inputs}`, pieces };
    record.hooked(textOf(pieces));
    if (this.#turn || this.#waiting.length > 0) {
      record.queued(textOf(pieces));
      this.#waiting.push(input);
      this.#parts.onChange();
      return;
    }
    this.#begin([input]);
  }

  /** The queue goes back into the composer. */
  giveBack(): readonly Piece[] {
    const pieces = this.#waiting.flatMap((input) => input.pieces);
    if (pieces.length > 0) {
      this.#waiting = [];
      this.#parts.witness.withdrawn(pieces);
      this.#parts.record.withdrawn();
      this.#parts.onChange();
    }
    return pieces;
  }

  end(outcome: 'completed' | 'failed' | 'cancelled'): void {
    const turn = this.#turn;
    if (!turn) return;
    this.stop();
    this.#turn = null;
    const named = this.#parts.plan.rule !== 'merging';
    const refs = named ? turn.members.map(({ ref }) => ref) : [];
    this.#parts.witness.turnEnded(
      named ? turn.members.flatMap(({ pieces }) => pieces) : [],
      outcome,
      answerOf(turn),
    );
    this.#parts.record.turnEnded(turn.ref, outcome, refs, answerOf(turn));
    this.#release();
    this.#parts.onChange();
  }

  /** Turns are short from here on, the running one too. */
  calm(): void {
    this.#calm = true;
    if (this.#turn) this.#endSoon(calmTurnMs);
  }

  modalClosed(): void {
    if (!this.#turn) this.#release();
  }

  stop(): void {
    this.#endTimer?.[Symbol.dispose]();
    this.#boundaryTimer?.[Symbol.dispose]();
  }

  #release(): void {
    if (this.#waiting.length === 0 || this.#parts.modalOpen()) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#parts.plan.rule === 'merging') {
      this.#inputs += 1;
      const pieces = waiting.flatMap((input) => input.pieces);
      const text = waiting.map((input) => textOf(input.pieces)).join('\n');
      this.#begin([{ ref: `input-${this.#inputs}`, pieces }], text);
    } else {
      this.#begin(waiting);
    }
  }

  #begin(members: Submitted[], text?: string): void {
    const { plan, record, turnMs } = this.#parts;
    this.#turns += 1;
    const ref = `turn-${this.#turns}`;
    this.#turn = { ref, members: [] };
    record.turnStarted(ref);
    for (const member of members) this.#consume(member, text);
    this.#endSoon(this.#calm ? calmTurnMs : turnMs());
    if (plan.boundaryMs !== null) this.#boundary(plan.boundaryMs);
    this.#parts.onChange();
  }

  #endSoon(inMs: number): void {
    this.#endTimer?.[Symbol.dispose]();
    this.#endTimer = this.#parts.clock.setTimer(inMs, () => this.end('completed'));
  }

  #boundary(everyMs: number): void {
    this.#boundaryTimer = this.#parts.clock.setTimer(everyMs, () => {
      if (!this.#turn) return;
      const waiting = this.#parts.modalOpen() ? [] : this.#waiting.splice(0);
      for (const input of waiting) this.#consume(input);
      if (waiting.length > 0) this.#parts.onChange();
      this.#boundary(everyMs);
    });
  }

  #consume(input: Submitted, text: string = textOf(input.pieces)): void {
    const turn = this.#turn;
    if (!turn) return;
    turn.members.push(input);
    this.#parts.witness.consumed(input.pieces);
    this.#parts.record.consumed(text, input.ref, turn.ref);
  }
}
