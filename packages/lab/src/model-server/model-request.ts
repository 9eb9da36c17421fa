/** One thing a person (or a queue acting for one) said, as it stands in a request. */
export interface PromptInput {
  /** The text with the engine's wrappers taken off. */
  readonly text: string;
  /** The blocks as they came. */
  readonly raw: readonly string[];
  /** True when the model hasn't answered after it yet. */
  readonly fresh: boolean;
}

/** A request of either wire, read as far as the script and the ledger need it. */
export interface ModelRequest {
  readonly wire: 'messages' | 'responses';
  /** The conversation's id; requests of one id repeat one history. */
  readonly session: string;
  /** Why this isn't a conversation's request (title, summary, small model), or null when it is. */
  readonly side: string | null;
  readonly inputs: readonly PromptInput[];
  /** Calls of ours whose results came back after the model's last words. */
  readonly answeredCallIds: readonly string[];
  /** Names of the tools offered. */
  readonly tools: readonly string[];
  readonly model: string;
  readonly stream: boolean;
}

/** A tool call in the wire's own terms. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The group the tool stands in, where the wire groups them. */
  readonly namespace?: string;
  /** For tools that take raw text instead of JSON. */
  readonly freeform?: string;
}

/** Turns an answer into one wire's bytes. Calls come in order: begin, (text | call)*, end. */
export interface AnswerWriter {
  begin(): void;
  text(delta: string): void;
  call(call: ToolCall): void;
  end(): void;
  /** An error after the answer has begun. */
  error(message: string): void;
}
