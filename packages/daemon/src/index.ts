export { Daemon, type DaemonOptions } from './daemon.js';
export { type DaemonLimits, defaultDaemonLimits } from './limits.js';
export { isLoopback } from './listeners/origin.js';
