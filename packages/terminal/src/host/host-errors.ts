/** Every code that the host, and those who talk to it, give as a CodedError's `code`. */
export type HostErrorCode =
  /** The private directory is not private, or not a directory. */
  | 'HOST_DIR_UNSAFE'
  /** The socket's address would be longer than the system takes. */
  | 'HOST_PATH_TOO_LONG'
  /** A name, size or text outside its limits. */
  | 'HOST_BAD_REQUEST'
  /** No host runs and none was to be started. */
  | 'HOST_MISSING'
  /** A host could not be started, or did not answer. */
  | 'HOST_START_FAILED'
  /** A host's process is alive and its socket takes no connection. */
  | 'HOST_UNREACHABLE'
  /** The host speaks no version of the protocol that this one speaks. */
  | 'HOST_PROTOCOL'
  | 'HOST_TOKEN_REFUSED'
  /** Another daemon with a higher epoch controls the host. */
  | 'HOST_EPOCH_STALE'
  /** Another daemon has taken over: nothing of this one is carried out any more. */
  | 'HOST_SUPERSEDED'
  /** The connection has ended; what the host had not answered is in doubt. */
  | 'HOST_LOST'
  /** The host did not answer in time; the request is in doubt. */
  | 'HOST_SILENT'
  /** The host doesn't know this request: it is older. */
  | 'HOST_UNSUPPORTED'
  | 'HOST_FRAME_BAD'
  | 'HOST_TOO_MANY'
  | 'HOST_SESSION_EXISTS'
  | 'HOST_SESSION_UNKNOWN';
