/** Bounds of one host; its starter may give others. */
export interface HostLimits {
  /** Sessions at one time, ended ones that wait to be fetched included. */
  readonly maxSessions: number;
  /** Output kept of each session; a session may ask for another size. */
  readonly logBytes: number;
  /** How long a host without a first session stays. */
  readonly firstSessionGraceMs: number;
  /** How long a host stays behind its last session. */
  readonly lingerMs: number;
  /** Ended sessions kept until they are fetched. */
  readonly maxKeptExits: number;
  readonly keptExitMs: number;
}

export const hostLimits: HostLimits = {
  maxSessions: 256,
  logBytes: 1024 * 1024,
  firstSessionGraceMs: 30_000,
  lingerMs: 10_000,
  maxKeptExits: 64,
  keptExitMs: 6 * 60 * 60 * 1000,
};

export const maxLogBytes: number = 64 * 1024 * 1024;
/** Output on its way to the daemon and not yet taken by it. */
export const windowBytes: number = 256 * 1024;
/** The daemon tells what it took after so many bytes. */
export const ackEveryBytes: number = 64 * 1024;
/** Output in one frame. */
export const chunkBytes: number = 64 * 1024;
/** Bytes waiting in a connection before the host stops adding output, and stops reading requests. */
export const maxBacklogBytes: number = 1024 * 1024;
/** Resizes remembered beside a log; older ones take their part of the log with them. */
export const maxMarks = 256;
export const maxMetadataCharacters: number = 256 * 1024;
export const maxCheckpointBytes: number = 2 * 1024 * 1024;
export const maxNameCharacters = 64;
export const maxPathCharacters = 4_096;
export const maxWriteBytes: number = 1024 * 1024;
/** Connections that have not shown their token. */
export const maxStrangers = 16;
export const strangerMs = 5_000;
/** Syncs of one session that wait for their bytes to leave. */
export const maxSyncs = 256;

export const protocolMajor = 1;
export const hostVersion = '0.1.0';
/** What this host does beyond the first words of its protocol; a daemon asks before it relies on one. */
export const hostFeatures: readonly string[] = [
  'metadata',
  'checkpoint',
  'sync',
  'resized',
  'lost-modes',
  'observe',
];
