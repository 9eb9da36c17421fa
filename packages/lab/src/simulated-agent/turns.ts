import type { Clock, Timer } from '@ostler/runtime';
import type { RecordWriter } from './record-writer.js';
import type { SimulatedScript, TurnRule } from './script.js';
import type { TruthFields } from './truth.js';

export interface AgentInput {
  readonly id: string;
  readonly text: string;
}

interface RunningTurn {
  readonly id: string;
  readonly inputs: string[];
  /** The rule of the last input consumed. */
  rule: TurnRule;
  /** The release that ends it; null where time does. */
  until: string | null;
  timer: Timer | null;
  boundary: Timer | null;
  /** The turn is due to end and waits for a dialog to go. */
  due: boolean;
}

export interface TurnsHost {
  readonly clock: Clock;
  readonly record: RecordWriter;
  truth(fields: TruthFields): void;
  /** A prompt reached the model: show it, and run what is planned for it. */
  onPrompt(input: AgentInput): void;
  onOutput(lines: readonly string[]): void;
  onTurnEnd(): void;
  onChange(): void;
  isDialogOpen(): boolean;
}

const maxQueued = 1000;
const defaultTurnMs = 200;

/** The model's side: turns, the inputs they consume, and those that wait for one. */
export class Turns {
  readonly #script: SimulatedScript;
  readonly #host: TurnsHost;
  readonly #queue: AgentInput[] = [];
  #running: RunningTurn | null = null;
  #turnCount = 0;
  #inputCount = 0;

  constructor(script: SimulatedScript, host: TurnsHost) {
    this.#script = script;
    this.#host = host;
  }

  get busy(): boolean {
    return this.#running !== null;
  }

  get queued(): readonly string[] {
    return this.#queue.map((input) => input.text);
  }

  submit(text: string): void {
    const input = { id: this.#inputId(), text };
    const how = this.busy ? 'busy' : 'idle';
    this.#host.truth({ event: 'submitted', id: input.id, text, how });
    this.#host.record.write({ type: 'accepted', at: this.#now(), id: input.id, text });
    if (!this.busy) this.#start([input]);
    else if (this.#queue.length < maxQueued) this.#queue.push(input);
    this.#host.onChange();
  }

  /** A tool boundary: steering texts join the running turn. */
  boundary(): void {
    const turn = this.#running;
    if (!turn || this.#script.busyRule !== 'steering') return;
    for (const input of this.#queue.splice(0)) this.#consume(input, turn);
    this.#host.onChange();
  }

  /** Gives the queue back as a draft. */
  withdraw(): string | null {
    if (this.#queue.length === 0) return null;
    const text = this.#queue
      .splice(0)
      .map((input) => input.text)
      .join('\n');
    this.#host.record.write({ type: 'withdrawn', at: this.#now(), text: null });
    this.#host.truth({ event: 'queue_withdrawn', text });
    this.#host.onChange();
    return text;
  }

  onRelease(name: string): void {
    const turn = this.#running;
    if (turn?.until !== name) return;
    turn.until = null;
    this.#due();
  }

  onDialogClosed(): void {
    if (this.#running?.due) this.#due();
  }

  end(outcome: 'completed' | 'failed' | 'cancelled'): void {
    const turn = this.#running;
    if (!turn) return;
    const steered = this.#script.busyRule === 'steering' && this.#queue.length > 0;
    if (steered && outcome === 'completed') {
      turn.due = false;
      this.boundary();
      return;
    }
    turn.timer?.[Symbol.dispose]();
    turn.boundary?.[Symbol.dispose]();
    this.#running = null;
    const text =
      outcome === 'completed' ? (turn.rule.answer ?? `Done: ${turn.inputs.join(', ')}.`) : null;
    this.#host.record.write({
      type: 'turn_ended',
      at: this.#now(),
      turn: turn.id,
      outcome,
      inputs: turn.inputs,
      text,
    });
    if (text !== null) this.#host.onOutput([text]);
    this.#host.truth({ event: 'turn_ended', turn: turn.id, how: outcome });
    this.#host.onTurnEnd();
    this.#takeNext();
    this.#host.onChange();
  }

  #takeNext(): void {
    if (this.#running || this.#queue.length === 0) return;
    if (this.#script.busyRule === 'merging') {
      const merged = this.#queue.splice(0);
      const text = merged.map((input) => input.text).join('\n');
      this.#start([merged.length === 1 && merged[0] ? merged[0] : { id: this.#inputId(), text }]);
      return;
    }
    this.#start(this.#queue.splice(0, this.#script.drain === 'all' ? this.#queue.length : 1));
  }

  #start(inputs: readonly AgentInput[]): void {
    this.#turnCount += 1;
    const turn: RunningTurn = {
      id: `turn-${this.#turnCount}`,
      inputs: [],
      rule: {},
      until: null,
      timer: null,
      boundary: null,
      due: false,
    };
    this.#running = turn;
    this.#host.record.write({ type: 'turn_started', at: this.#now(), turn: turn.id });
    this.#host.truth({ event: 'turn_started', turn: turn.id });
    this.#armBoundary(turn);
    for (const input of inputs) this.#consume(input, turn);
  }

  #consume(input: AgentInput, turn: RunningTurn): void {
    turn.inputs.push(input.id);
    this.#host.record.write({
      type: 'consumed',
      at: this.#now(),
      id: input.id,
      turn: turn.id,
      text: input.text,
    });
    this.#host.truth({ event: 'model_received', id: input.id, turn: turn.id, text: input.text });
    const rule = this.#ruleFor(input.text);
    this.#arm(turn, rule);
    this.#host.onPrompt(input);
    if (rule.output) this.#host.onOutput(rule.output);
  }

  /** A consumed input sets the turn's length; one that ends by itself never shortens a held turn. */
  #arm(turn: RunningTurn, rule: TurnRule): void {
    turn.rule = rule;
    turn.until = rule.until ?? turn.until;
    turn.timer?.[Symbol.dispose]();
    turn.timer =
      turn.until === null
        ? this.#host.clock.setTimer(rule.forMs ?? defaultTurnMs, () => this.#due())
        : null;
  }

  #armBoundary(turn: RunningTurn): void {
    const { boundaryMs } = this.#script;
    if (boundaryMs === null) return;
    turn.boundary = this.#host.clock.setTimer(boundaryMs, () => {
      this.boundary();
      if (this.#running === turn) this.#armBoundary(turn);
    });
  }

  #due(): void {
    const turn = this.#running;
    if (!turn) return;
    if (this.#host.isDialogOpen()) {
      turn.due = true;
      return;
    }
    this.end(turn.rule.outcome ?? 'completed');
  }

  #ruleFor(text: string): TurnRule {
    return (
      this.#script.turns.find((rule) => rule.text === undefined || text.includes(rule.text)) ?? {}
    );
  }

  #inputId(): string {
    this.#inputCount += 1;
    return `input-${this.#inputCount}`;
  }

  #now(): number {
    return this.#host.clock.nowMs();
  }
}
