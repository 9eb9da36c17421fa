/** Messages remembered, and how much of one: no result may be longer. */
const maxMessages = 16;
const maxMessageCharacters = 65_536;

interface Message {
  readonly blocks: Map<string, string>;
  characters: number;
  asksForTool: boolean;
  hasEnded: boolean;
}

/** The engine's latest messages. One message comes in blocks, an entry each. */
export class Said {
  readonly #messages = new Map<string, Message>();

  add(messageId: string, uuid: string, text: string | null, asksForTool: boolean): void {
    const message = this.#messages.get(messageId) ?? {
      blocks: new Map<string, string>(),
      characters: 0,
      asksForTool: false,
      hasEnded: false,
    };
    this.#messages.delete(messageId);
    this.#messages.set(messageId, message);
    message.asksForTool ||= asksForTool;
    const kept = (text ?? '').slice(0, maxMessageCharacters - message.characters);
    message.characters += kept.length;
    message.blocks.set(uuid, kept);
    const oldest = this.#messages.keys().next().value;
    if (this.#messages.size > maxMessages && oldest !== undefined) this.#messages.delete(oldest);
  }

  asksForTool(messageId: string): boolean {
    return this.#messages.get(messageId)?.asksForTool === true;
  }

  /** Its end has been told; a block that comes later changes nothing. */
  markEnded(messageId: string): void {
    const message = this.#messages.get(messageId);
    if (message) message.hasEnded = true;
  }

  /** It asks for no tool, and its end hasn't been told. */
  mayEnd(messageId: string): boolean {
    const message = this.#messages.get(messageId);
    return message !== undefined && !message.asksForTool && !message.hasEnded;
  }

  /** The message's text up to its block `uuid`, in the order of the chain; null where it isn't known. */
  text(messageId: string, uuid: string, parentOf: (uuid: string) => string | null): string | null {
    const blocks = this.#messages.get(messageId)?.blocks;
    if (!blocks) return null;
    const texts: string[] = [];
    for (let at: string | null = uuid; at !== null && blocks.has(at); at = parentOf(at)) {
      texts.unshift(blocks.get(at) ?? '');
    }
    return texts.join('');
  }

  /** The message with this block. */
  messageOf(uuid: string): string | null {
    for (const [messageId, { blocks }] of this.#messages) if (blocks.has(uuid)) return messageId;
    return null;
  }
}
