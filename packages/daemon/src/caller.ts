import type { ResultOf } from '@ostler/protocol';
import type { Service } from '@ostler/service';
import type { Devices } from './devices.js';
import type { View } from './event-view.js';
import type { Metrics } from './metrics.js';
import type { Outbox } from './outbox.js';
import type { Subscriptions } from './subscriptions.js';
import type { TerminalViews } from './terminal-views.js';

/** What operations reach of the daemon. */
export interface DaemonParts {
  readonly service: Service;
  readonly devices: Devices;
  readonly metrics: Metrics;
  readonly views: TerminalViews;
  readonly serverStatus: () => ResultOf<'server.status'>;
  /** The device's pairing has ended: its connections end, and what of its inputs was not written. */
  readonly revokeDevice: (deviceId: string) => void;
}

/** The connection an operation was called on. */
export interface Caller {
  readonly parts: DaemonParts;
  /** The device, and what its last hello chose. */
  readonly view: View;
  readonly outbox: Outbox;
  readonly transport: { whenDrained(callback: () => void): void };
  readonly subscriptions: Subscriptions;
  /** Aborted when the peer has gone: nobody waits for the answers any more. */
  readonly signal: AbortSignal;
}
