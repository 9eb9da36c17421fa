import type { Reading } from '@ostler/engines';
import type { AgentSummary, EventQuestion } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { AgentSession } from '@ostler/service';
import type { ScreenSnapshot } from '@ostler/terminal';

export interface AgentScreen {
  /** Text of each row, trailing blanks trimmed; as many as the terminal has. */
  readonly rows: readonly string[];
  readonly cols: number;
  readonly cursor: ScreenSnapshot['cursor'];
  readonly modes: ScreenSnapshot['modes'];
  /** What the engine's reader says of exactly this screen. */
  readonly reading: Reading;
}

export interface AgentStatus extends AgentSummary {
  readonly openQuestion: {
    readonly requestId: string;
    readonly questions: readonly EventQuestion[];
  } | null;
}

/** One launched agent. */
export class Agent implements AsyncDisposable {
  readonly #session: AgentSession;
  readonly #close: () => Promise<void>;

  constructor(session: AgentSession, close: () => Promise<void>) {
    this.#session = session;
    this.#close = close;
  }

  get agentId(): string {
    return this.#session.agentId;
  }

  get name(): string {
    return this.#session.name;
  }

  get engine(): string {
    return this.#session.engine;
  }

  /** As the executable says, or null where it doesn't. */
  get version(): string | null {
    return this.#session.version;
  }

  get pid(): number {
    return this.#session.terminal.identity.pid;
  }

  status(): AgentStatus {
    const open = this.#session.openQuestion;
    return {
      ...this.#session.summary(),
      openQuestion: open && { requestId: open.requestId, questions: open.question.prompts },
    };
  }

  /** A fresh look: everything the agent has written so far is on it. */
  async screen(): Promise<AgentScreen> {
    const snapshot = await this.#session.terminal.look();
    return {
      rows: snapshot.rows.map((row) => row.text),
      cols: snapshot.cols,
      cursor: snapshot.cursor,
      modes: snapshot.modes,
      reading: this.#session.reader.read(snapshot, this.#session.sideSignals()),
    };
  }

  /**
   * A person's keys, as bytes of the terminal. While an input is being typed they wait,
   * for milliseconds, and land after it, whole and in order.
   * Throws CodedError PERSON_INPUT_LIMIT when too many wait: then none of these was taken.
   */
  personInput(data: string): void {
    const outcome = this.#session.terminal.personInput(data);
    if (outcome.kind === 'refused') {
      throw new CodedError(
        'PERSON_INPUT_LIMIT',
        'too many keys are waiting for an input that is being typed; try again in a moment',
      );
    }
  }

  /** Terminal and screen together, in cells. Throws CodedError PTY_BAD_SIZE. */
  resize(cols: number, rows: number): void {
    this.#session.terminal.resize(cols, rows);
  }

  /** Ends the agent. What waited is rejected, what was dispatched is unknown. Idempotent. */
  async close(): Promise<void> {
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
