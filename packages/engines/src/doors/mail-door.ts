/** Where one engine session is reached. */
export interface MailAddress {
  readonly sessionId: string;
  /** Absolute, links resolved. */
  readonly workspace: string;
  /** A server's socket, where the session is reached through one. */
  readonly socket: string | null;
}

/** What was seen of a session's identity, or why it can't be told. */
export type IdentityEvidence =
  | { readonly kind: 'found'; readonly evidence: Readonly<Record<string, string>> }
  /** `reason` is a stable word. */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/** A notification: a pointer to a message, never the message. */
export interface MailPointer {
  readonly messageId: string;
  readonly sender: string;
  readonly text: string;
}

/**
 * `not_submitted`: nothing reached the engine. `submission_unknown`: something may have.
 * `submitted`: the engine's side took it. None says that a model read it.
 */
export interface Submission {
  readonly submission: 'not_submitted' | 'submission_unknown' | 'submitted';
  /** A stable word, with the engine's own receipt id after a colon where there is one. */
  readonly detail: string;
}

/** How one agent CLI is told that there is mail, without typing into its terminal. */
export interface MailDoor {
  readonly engine: string;
  /** Why an address of this engine takes no socket, as an error code; null where it may. */
  readonly socketRefusal: string | null;
  /** Looks at the session's identity and sends nothing. */
  checkIdentity(address: MailAddress, signal?: AbortSignal): Promise<IdentityEvidence>;
  /**
   * Checks the identity, then hands the pointer over, once. Never throws: what fails before
   * the transport is `not_submitted`, what fails after it `submission_unknown`.
   */
  submit(address: MailAddress, pointer: MailPointer, signal?: AbortSignal): Promise<Submission>;
  /**
   * The session that `env` says this process runs in, with the code of the refusal where an
   * actor claims another one; null where the environment is no evidence for this engine.
   */
  sessionOf(env: Environment): { readonly sessionId: string; readonly conflict: string } | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Rows of another program's SQLite file, read-only. */
export type ForeignRows = (
  path: string,
  sql: string,
  values: readonly string[],
) => readonly Readonly<Record<string, unknown>>[];
