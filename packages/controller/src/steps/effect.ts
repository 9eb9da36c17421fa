import type {
  InputCommand,
  InputContext,
  InputEvent,
  ReceiptChange,
  TimerName,
} from '../machine-types.js';

/** What one step does: changes of the context, and commands in their order. It carries out neither. */
export class Effect {
  readonly #commands: InputCommand[] = [];
  #changes: Partial<InputContext> = {};

  get commands(): readonly InputCommand[] {
    return this.#commands;
  }

  get changes(): Partial<InputContext> {
    return this.#changes;
  }

  change(changes: Partial<InputContext>): this {
    this.#changes = { ...this.#changes, ...changes };
    return this;
  }

  command(command: InputCommand): this {
    this.#commands.push(command);
    return this;
  }

  report(deliveryId: string, change: ReceiptChange): this {
    return this.command({ type: 'report', params: { deliveryId, change } });
  }

  /** Nothing more will be asked about this delivery. */
  forget(deliveryId: string): this {
    return this.command({ type: 'forget', params: { deliveryId } });
  }

  startTimer(name: TimerName, delayMs: number): this {
    return this.command({ type: 'startTimer', params: { name, delayMs } });
  }
}

/** One step of the machine. Pure: the same moment always gives the same effect. */
export type Step = (context: InputContext, event: InputEvent) => Effect;
