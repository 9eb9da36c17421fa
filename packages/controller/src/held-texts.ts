import type { BodyVerdict, EngineReader } from '@ostler/engines';
import type { Clock, Timer } from '@ostler/runtime';
import type { ScreenSnapshot } from '@ostler/terminal';
import type { RestoredInput } from './restored.js';

export interface HeldTextsOptions {
  readonly reader: Pick<EngineReader, 'prepareBody'>;
  readonly clock: Clock;
  readonly expiryMs: number;
  readonly onExpired: (deliveryId: string) => void;
}

interface HeldText {
  readonly text: string;
  /** None for a text whose dispatch an earlier process began. */
  readonly expiry: Timer | null;
  body: BodyVerdict;
  preparedFor: string;
}

/** The texts on their way, each as it was given and as it is made safe for the screen. */
export class HeldTexts implements Disposable {
  readonly #options: HeldTextsOptions;
  readonly #held = new Map<string, HeldText>();

  constructor(options: HeldTextsOptions) {
    this.#options = options;
  }

  /** Holds a text from now until it is forgotten, or refuses it. Its expiry is told once. */
  hold(deliveryId: string, text: string, snapshot: ScreenSnapshot): BodyVerdict {
    const { clock, expiryMs, onExpired, reader } = this.#options;
    const body = reader.prepareBody(text, snapshot);
    if (body.kind === 'refused') return body;
    const expiry = clock.setTimer(expiryMs, () => onExpired(deliveryId));
    this.#held.set(deliveryId, { text, body, expiry, preparedFor: sizeOf(snapshot) });
    return body;
  }

  /** The text of the input an earlier process left in doubt: what stands in the composer may be it. */
  recall(input: RestoredInput | undefined, snapshot: ScreenSnapshot): void {
    if (!input || input.accepted || input.text === null) return;
    const { deliveryId, text } = input;
    const body = this.#options.reader.prepareBody(text, snapshot);
    this.#held.set(deliveryId, { text, body, expiry: null, preparedFor: sizeOf(snapshot) });
  }

  textOf(deliveryId: string): string | null {
    return this.#held.get(deliveryId)?.text ?? null;
  }

  /** Made safe for the screen as it is; once `isDispatched` it stays as it was. */
  bodyOf(deliveryId: string, snapshot: ScreenSnapshot, isDispatched: boolean): BodyVerdict | null {
    const held = this.#held.get(deliveryId);
    if (!held) return null;
    const size = sizeOf(snapshot);
    if (held.preparedFor !== size && !isDispatched) {
      held.body = this.#options.reader.prepareBody(held.text, snapshot);
      held.preparedFor = size;
    }
    return held.body;
  }

  /** It is on its way and expires no more. */
  stopExpiry(deliveryId: string): void {
    this.#held.get(deliveryId)?.expiry?.[Symbol.dispose]();
  }

  forget(deliveryId: string): void {
    this.stopExpiry(deliveryId);
    this.#held.delete(deliveryId);
  }

  [Symbol.dispose](): void {
    for (const deliveryId of [...this.#held.keys()]) this.forget(deliveryId);
  }
}

/** What a body is prepared for: the size of the screen, and whether it takes bracketed pastes. */
const sizeOf = ({ cols, modes, rows }: ScreenSnapshot): string =>
  `${cols}x${rows.length}${modes.bracketedPaste ? '+' : '-'}`;
