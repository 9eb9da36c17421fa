import type { EngineEvent } from '@ostler/engines';
import { type StreamFrame, type StreamKind, utf8Bytes } from '@ostler/protocol';
import { type Clock, Emitter, type Timer } from '@ostler/runtime';
import { countUnits } from './cut-text.js';

/** Words are gathered for so long, or until there is so much of them. */
const flushMs = 250;
const maxPieceBytes = 4_096;

/** One piece of what an agent does, for those who follow it. */
export interface StreamMessage {
  readonly stream: StreamKind;
  /** What is sent of it. */
  readonly event: StreamFrame;
}

type StreamedEvent = Extract<EngineEvent, { kind: 'turn_text' | 'turn_tool' | 'turn_ended' }>;

interface Gathered {
  readonly turnId: string;
  text: string;
}

/**
 * What an agent says and does, from its engine's record, as it is written. Nothing is made
 * while nobody follows.
 */
export class AgentStreams implements Disposable {
  readonly #head: Pick<StreamFrame, 'type' | 'machineId' | 'agentId'>;
  readonly #clock: Clock;
  readonly #messages: Emitter<{ message: StreamMessage }> = new Emitter();
  #followers = 0;
  #gathered: Gathered | null = null;
  #timer: Timer | null = null;

  constructor(options: {
    readonly machineId: string;
    readonly agentId: string;
    readonly clock: Clock;
  }) {
    const { agentId, machineId } = options;
    this.#head = { type: 'stream', machineId, agentId };
    this.#clock = options.clock;
  }

  on(listener: (message: StreamMessage) => void): Disposable {
    const subscription = this.#messages.on('message', listener);
    this.#followers += 1;
    let open = true;
    return {
      [Symbol.dispose]: () => {
        if (open) this.#followers -= 1;
        open = false;
        subscription[Symbol.dispose]();
      },
    };
  }

  note(turnId: string, event: StreamedEvent): void {
    if (this.#followers === 0) return;
    switch (event.kind) {
      case 'turn_text':
        this.#gather(turnId, event.text);
        break;
      case 'turn_tool': {
        this.#flush();
        const { name, state, toolId } = event;
        this.#tell({ ...this.#head, stream: 'tool', turnId, toolId, name, state });
        break;
      }
      case 'turn_ended':
        this.#flush();
        this.#tellFinal(turnId, event);
        break;
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#gathered = null;
    this.#messages.clear();
  }

  #gather(turnId: string, text: string): void {
    if (this.#gathered && this.#gathered.turnId !== turnId) this.#flush();
    this.#gathered ??= { turnId, text: '' };
    this.#gathered.text += text;
    if (utf8Bytes(this.#gathered.text) >= maxPieceBytes) this.#flush();
    else if (!this.#timer?.active) this.#timer = this.#clock.setTimer(flushMs, () => this.#flush());
  }

  #flush(): void {
    this.#timer?.[Symbol.dispose]();
    const gathered = this.#gathered;
    this.#gathered = null;
    if (!gathered) return;
    const { turnId } = gathered;
    for (const text of pieces(gathered.text)) {
      this.#tell({ ...this.#head, stream: 'text', turnId, text });
    }
  }

  #tellFinal(turnId: string, end: Extract<StreamedEvent, { kind: 'turn_ended' }>): void {
    const { finalText, outcome } = end;
    const all = pieces(finalText ?? '');
    all.forEach((text, index) => {
      const isLast = index === all.length - 1;
      this.#tell({ ...this.#head, stream: 'final', turnId, outcome, text, isLast });
    });
  }

  #tell(event: StreamFrame): void {
    this.#messages.emit('message', { stream: event.stream, event });
  }
}

/** At least one, each of at most 4 KiB and whole characters. */
function pieces(text: string): string[] {
  const all: string[] = [];
  let rest = text;
  do {
    const units = countUnits(rest, maxPieceBytes);
    all.push(rest.slice(0, units));
    rest = rest.slice(units);
  } while (rest !== '');
  return all;
}
