import { type EventKind, maxEventPayloadBytes, utf8Bytes } from '@ostler/protocol';
import type { Statement } from 'better-sqlite3';
import type { StoreDatabase } from './database.js';
import type { EventCursor, NewEvent, ReplayResult, StoredEvent } from './receipt-store.js';
import { storeError } from './store-errors.js';

/** Who writes events now, and where this instance's ids begin. */
export interface Instance {
  readonly machineId: string;
  readonly serverInstanceId: string;
  readonly firstEventId: number;
}

interface EventRow {
  readonly event_id: number;
  readonly kind: EventKind;
  readonly agent_id: string | null;
  readonly device_id: string | null;
  readonly payload: string;
}

/** Rows over the ring's size that may gather before they are removed together. */
const pruneSlackCount = 64;

/** The events' ring. `append` belongs inside a transaction of the caller's. */
export class EventLog {
  readonly #instance: Instance;
  readonly #ringCount: number;
  readonly #insert: Statement<
    [number, EventKind, string | null, string | null, string],
    { event_id: number }
  >;
  readonly #prune: Statement<[number]>;
  readonly #newest: Statement<[], { event_id: number | null }>;
  readonly #oldestKept: Statement<[number], { event_id: number | null }>;
  readonly #after: Statement<[number, string], EventRow>;
  readonly #nextInstance: Statement<[string], { last_event_before: number }>;
  #sincePrune = 0;

  constructor(database: StoreDatabase, instance: Instance, ringCount: number) {
    const { connection } = database;
    this.#instance = instance;
    this.#ringCount = ringCount;
    this.#insert = connection.prepare(`
      INSERT INTO events (event_id, kind, agent_id, device_id, payload)
      VALUES (max(?, ifnull((SELECT max(event_id) FROM events), 0) + 1), ?, ?, ?, ?)
      RETURNING event_id`);
    this.#prune = connection.prepare(`
      DELETE FROM events WHERE event_id <=
        (SELECT event_id FROM events ORDER BY event_id DESC LIMIT 1 OFFSET ?)`);
    this.#newest = connection.prepare('SELECT max(event_id) AS event_id FROM events');
    this.#oldestKept = connection.prepare(`
      SELECT min(event_id) AS event_id FROM
        (SELECT event_id FROM events ORDER BY event_id DESC LIMIT ?)`);
    this.#after = connection.prepare(`
      SELECT * FROM events WHERE event_id > ? AND (device_id IS NULL OR device_id = ?)
      ORDER BY event_id`);
    this.#nextInstance = connection.prepare(`
      SELECT last_event_before FROM instances WHERE ordinal >
        (SELECT ordinal FROM instances WHERE server_instance_id = ?)
      ORDER BY ordinal LIMIT 1`);
  }

  append(event: NewEvent): StoredEvent {
    const payload = JSON.stringify(event.payload);
    if (utf8Bytes(payload) > maxEventPayloadBytes) {
      throw storeError(
        'EVENT_TOO_LARGE',
        `a ${event.kind} event is larger than ${maxEventPayloadBytes} bytes; send less`,
        null,
      );
    }
    const agentId = event.agentId ?? null;
    const deviceId = event.deviceId ?? null;
    const { firstEventId } = this.#instance;
    const row = this.#insert.get(firstEventId, event.kind, agentId, deviceId, payload);
    if (row === undefined) throw new Error('the insert returned no row');
    this.#sincePrune += 1;
    if (this.#sincePrune >= pruneSlackCount) {
      this.#prune.run(this.#ringCount);
      this.#sincePrune = 0;
    }
    return this.#stored(row.event_id, event.kind, agentId, deviceId, event.payload);
  }

  cursor(): EventCursor {
    return {
      serverInstanceId: this.#instance.serverInstanceId,
      eventId: this.#newest.get()?.event_id ?? 0,
    };
  }

  replay(cursor: EventCursor, deviceId: string): ReplayResult {
    const newestKnown = this.#newestKnownTo(cursor.serverInstanceId);
    if (newestKnown === null || cursor.eventId > newestKnown) {
      return { kind: 'resync', reason: 'instance_changed' };
    }
    const oldest = this.#oldestKept.get(this.#ringCount)?.event_id ?? 1;
    if (cursor.eventId < oldest - 1) return { kind: 'resync', reason: 'cursor_too_old' };
    const events = this.#after
      .all(cursor.eventId, deviceId)
      .map((row) =>
        this.#stored(row.event_id, row.kind, row.agent_id, row.device_id, parsePayload(row)),
      );
    return { kind: 'events', events };
  }

  /**
   * The newest event of that instance and those before it, as far as it is still on the disk.
   * A power cut may have taken events that a client saw: its cursor is beyond this.
   */
  #newestKnownTo(serverInstanceId: string): number | null {
    if (serverInstanceId === this.#instance.serverInstanceId) return this.cursor().eventId;
    return this.#nextInstance.get(serverInstanceId)?.last_event_before ?? null;
  }

  #stored(
    eventId: number,
    kind: EventKind,
    agentId: string | null,
    deviceId: string | null,
    payload: NewEvent['payload'],
  ): StoredEvent {
    const { machineId, serverInstanceId } = this.#instance;
    return {
      deviceId,
      event: {
        type: 'event',
        eventId,
        serverInstanceId,
        machineId,
        ...(agentId === null ? {} : { agentId }),
        kind,
        payload,
      },
    };
  }
}

function parsePayload(row: EventRow): NewEvent['payload'] {
  try {
    return JSON.parse(row.payload) as NewEvent['payload'];
  } catch (error) {
    const message = `event ${row.event_id} is damaged; keep a copy of the store, then restore a backup`;
    throw storeError('STORE_CORRUPT', message, null, error);
  }
}
