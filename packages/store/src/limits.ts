import { eventRingCount, receiptsPerDeviceCount, settledRetentionMs } from '@ostler/protocol';
import { storeError } from './store-errors.js';

export interface StoreLimits {
  /** Receipts a device may have in the ledger. Default 512. */
  readonly receiptsPerDeviceCount: number;
  /**
   * Settled receipts of a device that made room for others and still guard their keys until
   * the retention is over. Default 8,192; more is `backpressure`.
   */
  readonly earlyLeaversPerDeviceCount: number;
  /** How long a settled receipt stays after its last change. Default 30 minutes. */
  readonly settledRetentionMs: number;
  /** Events kept for replay. Default 500. */
  readonly eventRingCount: number;
  /** The database file's size; a write beyond it is STORE_FULL. Default 256 MiB. */
  readonly maxStoreBytes: number;
}

const defaults: StoreLimits = {
  receiptsPerDeviceCount,
  earlyLeaversPerDeviceCount: 8192,
  settledRetentionMs,
  eventRingCount,
  maxStoreBytes: 256 * 1024 * 1024,
};

/** The defaults with `wanted` over them. Throws STORE_OPTION_INVALID. */
export function storeLimits(wanted: Partial<StoreLimits> = {}): StoreLimits {
  const limits = { ...defaults, ...wanted };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw storeError('STORE_OPTION_INVALID', `${name} must be a whole number from 1`, null);
    }
  }
  return limits;
}
