/** The protocol's version, as `hello` carries it. */
export const protocolVersion = 1;

/** One frame on the wire, newline not counted. */
export const maxFrameBytes: number = 64 * 1024;
/** A prompt's text, UTF-8. Longer is refused, never cut. */
export const maxTextBytes: number = 16 * 1024;
/** All questions and answers of one `question.answer` together, UTF-8. */
export const maxAnswersBytes: number = 16 * 1024;
/** Questions answered in one `question.answer`. */
export const maxAnswersCount = 64;
/** machineId, agentId, questionRequestId, agent and engine names. */
export const maxNameCharacters = 128;
/** The longest `timeoutMs` of one `receipt.wait`. */
export const maxWaitMs = 60_000;

/** Turns one `recap` may ask for. */
export const maxRecapTurns = 5;
/** The longest `ttlSec` of one `agent.subscribe`. */
export const maxSubscriptionSec = 300;
/** Agents one connection may be subscribed to at a time. */
export const maxSubscriptionsCount = 16;
/** A device's token, as a connection brings it. */
export const maxTokenCharacters = 256;
/** Capabilities one hello may name. */
export const maxCapabilitiesCount = 32;
/** A device's name, for people. */
export const maxDeviceNameCharacters = 64;
/** A person's keys in one `agent.input`. */
export const maxInputBytes: number = 16 * 1024;
/** Terminal output in one `terminal` frame. */
export const maxTerminalFrameBytes: number = 32 * 1024;

/** The longest single argument, path or environment value of a launch, UTF-8. */
export const maxLaunchStringBytes: number = 128 * 1024;
/** Arguments of one launch. */
export const maxLaunchArgsCount = 256;
/** Environment variables of one launch. */
export const maxLaunchEnvCount = 1024;
/** The narrowest terminal. */
export const minColumnsCells = 2;
/** The widest. */
export const maxColumnsCells = 1000;
/** The lowest terminal. */
export const minRowsCells = 2;
/** The highest. */
export const maxRowsCells = 1000;

/** One event's payload, serialised as JSON in UTF-8. */
export const maxEventPayloadBytes: number = 32 * 1024;
/** Events kept for clients that reconnect. */
export const eventRingCount = 500;
/** Receipts a device may have at a time, where the server is told no other number. */
export const receiptsPerDeviceCount = 512;
/** How long a completed or rejected receipt stays after its last change. */
export const settledRetentionMs: number = 30 * 60_000;

export const idempotencyKeyPattern: RegExp = /^[A-Za-z0-9_-]{1,64}$/;

/** The marker in hello's capabilities after which receipts carry `input`. Not an operation. */
export const inputStatusCapability = 'input.status.v1';

/** The marker in hello's capabilities after which `turn.result` events are sent. */
export const turnCorrelationCapability = 'turn.correlation.v2';
