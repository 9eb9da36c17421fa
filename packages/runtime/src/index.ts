export { type Clock, keepAliveClock, systemClock, type Timer, VirtualClock } from './clock.js';
export { CodedError, isCoded } from './coded-error.js';
export { Disposables } from './disposables.js';
export { Emitter } from './emitter.js';
export { type Ids, randomIds, sequentialIds } from './ids.js';
export { type LogFields, type Logger, silentLogger } from './logger.js';
