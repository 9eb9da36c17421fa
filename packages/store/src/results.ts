import { type TurnResult, turnResultRetentionMs, turnResultsKeptCount } from '@ostler/protocol';
import type { Statement } from 'better-sqlite3';
import type { StoreDatabase } from './database.js';
import type { Instance } from './events.js';
import type { StoredEvent } from './receipt-store.js';
import { storeError } from './store-errors.js';

interface ResultRow {
  readonly result_id: string;
  readonly event_id: number;
  readonly agent_id: string | null;
  readonly device_id: string;
  readonly payload: string;
}

/**
 * Results for as long as they are sent again behind a resync: 30 minutes, and 512 at most. A row
 * is never changed. Writing belongs inside a transaction of the caller's.
 */
export class ResultTable {
  readonly #instance: Instance;
  readonly #has: Statement<[string], { result_id: string }>;
  readonly #insert: Statement<[string, number, string | null, string, string, number]>;
  readonly #prune: Statement<[number, number]>;
  readonly #ofDevice: Statement<[string, number], ResultRow>;

  constructor({ connection }: StoreDatabase, instance: Instance) {
    this.#instance = instance;
    this.#has = connection.prepare('SELECT result_id FROM results WHERE result_id = ?');
    this.#insert = connection.prepare(`
      INSERT INTO results (result_id, event_id, agent_id, device_id, payload, at_ms)
      VALUES (?, ?, ?, ?, ?, ?)`);
    this.#prune = connection.prepare(`
      DELETE FROM results WHERE at_ms <= ? OR event_id <=
        (SELECT event_id FROM results ORDER BY event_id DESC LIMIT 1 OFFSET ?)`);
    this.#ofDevice = connection.prepare(`
      SELECT * FROM results WHERE device_id = ? AND at_ms > ? ORDER BY event_id`);
  }

  has(resultId: string): boolean {
    return this.#has.get(resultId) !== undefined;
  }

  keep({ deviceId, event }: StoredEvent, atMs: number): void {
    const { resultId } = event.payload as unknown as TurnResult;
    if (deviceId === null) throw new TypeError('a result has one device');
    this.#prune.run(atMs - turnResultRetentionMs, turnResultsKeptCount - 1);
    const payload = JSON.stringify(event.payload);
    this.#insert.run(resultId, event.eventId, event.agentId ?? null, deviceId, payload, atMs);
  }

  ofDevice(deviceId: string, nowMs: number): readonly StoredEvent[] {
    const { machineId, serverInstanceId } = this.#instance;
    return this.#ofDevice.all(deviceId, nowMs - turnResultRetentionMs).map((row) => ({
      deviceId,
      event: {
        type: 'event',
        eventId: row.event_id,
        serverInstanceId,
        machineId,
        ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
        kind: 'turn.result',
        payload: parsePayload(row),
      },
    }));
  }
}

function parsePayload(row: ResultRow): StoredEvent['event']['payload'] {
  try {
    return JSON.parse(row.payload) as StoredEvent['event']['payload'];
  } catch (error) {
    const message = `result ${row.result_id} is damaged; keep a copy of the store, then restore a backup`;
    throw storeError('STORE_CORRUPT', message, null, error);
  }
}
