export {
  AgentTerminal,
  type AgentTerminalAdoptOptions,
  type AgentTerminalLaunchOptions,
  type AgentTerminalOptions,
} from './agent-terminal.js';
export type { AdoptedTerminal } from './begin-screen.js';
export { bracketedPaste, pasteEnd, pasteStart } from './bracketed-paste.js';
export type { CastErrorCode, CastEvent, CastHeader } from './cast.js';
export {
  type CastPart,
  type CastReadLimits,
  castReadLimits,
  parseCast,
  readCast,
  readCastFile,
} from './cast-reader.js';
export { CastWriter, type CastWriterOptions, type CastWriterState } from './cast-writer.js';
export {
  type GuardedWriteOutcome,
  GuardedWriter,
  type GuardedWriterLimits,
  type GuardedWriterOptions,
  guardedWriterLimits,
  type LeaseToken,
  type PersonInputOutcome,
} from './guarded-writer.js';
export {
  type AdoptedPty,
  type ConnectHostOptions,
  connectHost,
  type HostedSpawnOptions,
  type PtyHost,
} from './host/connect-host.js';
export type { LostReason } from './host/host-client.js';
export type { HostErrorCode } from './host/host-errors.js';
export { type HostLimits, hostLimits } from './host/host-limits.js';
export { HostedPty } from './host/hosted-pty.js';
export { type ListedHost, listHosts, observeHost } from './host/list-hosts.js';
export type { HostedSessionInfo } from './host/replies.js';
export {
  InProcessPty,
  type PtyErrorCode,
  type PtyLimits,
  type PtySpawnOptions,
  ptyLimits,
  spawnPty,
} from './in-process-pty.js';
export { controlKey, type KeyName, keys } from './keys.js';
export type {
  LostOutput,
  OutputPart,
  ProcessExit,
  ProcessIdentity,
  PtyEndpoint,
  ScreenCheckpoint,
  TerminalSize,
  WriteGate,
  WriteOutcome,
} from './pty-endpoint.js';
export { findLoneSurrogate, isSafeInPaste, type SanitisedBody, sanitiseBody } from './sanitise.js';
export { type LookOptions, Screen, type ScreenOptions } from './screen.js';
export type {
  CellStyle,
  Colour,
  ScreenRow,
  ScreenSnapshot,
  StyledRun,
  TerminalModes,
  TerminalSignals,
} from './snapshot.js';
