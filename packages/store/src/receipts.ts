import type {
  EvidenceKind,
  InputMode,
  InputPhase,
  InputStatus,
  Receipt,
  ReceiptState,
} from '@ostler/protocol';
import type { Statement } from 'better-sqlite3';
import type { StoreDatabase } from './database.js';
import type { ReceiptQuery } from './receipt-store.js';

/** A receipt as the table has it. */
export interface ReceiptRow {
  readonly ordinal: number;
  readonly delivery_id: string;
  readonly device_id: string;
  readonly idempotency_key: string;
  readonly intent_digest: string;
  readonly operation: Receipt['operation'];
  readonly state: ReceiptState;
  readonly settled: 0 | 1;
  readonly left_early: 0 | 1;
  readonly dispatched: 0 | 1;
  readonly machine_id: string;
  readonly agent_id: string;
  readonly server_instance_id: string;
  readonly turn_id: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly at_ms: number;
  readonly mode: InputMode | null;
  readonly phase: InputPhase | null;
  readonly hold: string | null;
  readonly evidence: EvidenceKind | null;
  readonly text_bytes: number | null;
  readonly last_event_id: number;
}

/** The columns that are set once, beside those the receipt itself has. */
export interface ReceiptOrigin {
  readonly deviceId: string;
  readonly intentDigest: string;
  readonly textBytes: number | null;
}

/** Receipts of one device: those in the ledger, and those that made room early. */
interface Counts {
  ledger: number;
  early: number;
}

const maxCountedDevices = 1024;
/** Longer error messages are cut: they are for people, and a row stays small. */
const maxErrorMessageCharacters = 1024;

/** The receipts' table. Writing methods belong inside a transaction of the caller's. */
export class ReceiptTable {
  readonly #byKey: Statement<[string, string], ReceiptRow>;
  readonly #byDelivery: Statement<[string], ReceiptRow>;
  readonly #unresolved: Statement<[], ReceiptRow>;
  readonly #unresolvedOfAgent: Statement<[string], ReceiptRow>;
  readonly #newestOf: Statement<[string, 0 | 1, string | null, string | null, number], ReceiptRow>;
  readonly #inFlightBefore: Statement<[string], ReceiptRow>;
  readonly #insert: Statement<(string | number | null)[]>;
  readonly #update: Statement<(string | number | null)[]>;
  readonly #setDispatched: Statement<[number]>;
  readonly #removeExpired: Statement<[string, number]>;
  readonly #count: Statement<[string], Counts>;
  readonly #oldestSettledLeaves: Statement<[string]>;
  readonly #counts = new Map<string, Counts>();

  constructor(database: StoreDatabase) {
    const { connection } = database;
    this.#byKey = connection.prepare(
      'SELECT * FROM receipts WHERE device_id = ? AND idempotency_key = ?',
    );
    this.#byDelivery = connection.prepare('SELECT * FROM receipts WHERE delivery_id = ?');
    this.#unresolved = connection.prepare(
      'SELECT * FROM receipts WHERE settled = 0 ORDER BY ordinal',
    );
    this.#unresolvedOfAgent = connection.prepare(
      'SELECT * FROM receipts WHERE settled = 0 AND agent_id = ? ORDER BY ordinal',
    );
    this.#newestOf = connection.prepare(`
      SELECT * FROM receipts
      WHERE device_id = ? AND left_early = 0 AND settled <= ? AND (? IS NULL OR agent_id = ?)
      ORDER BY ordinal DESC LIMIT ?`);
    this.#inFlightBefore = connection.prepare(`
      SELECT * FROM receipts
      WHERE settled = 0 AND state <> 'unknown' AND server_instance_id <> ? ORDER BY ordinal`);
    this.#insert = connection.prepare(`
      INSERT INTO receipts (delivery_id, device_id, idempotency_key, intent_digest, operation,
        machine_id, agent_id, server_instance_id, text_bytes, state, turn_id, error_code,
        error_message, at_ms, mode, phase, hold, evidence, last_event_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#update = connection.prepare(`
      UPDATE receipts SET state = ?, turn_id = ?, error_code = ?, error_message = ?, at_ms = ?,
        mode = ?, phase = ?, hold = ?, evidence = ?, last_event_id = ?
      WHERE delivery_id = ?`);
    this.#setDispatched = connection.prepare(
      'UPDATE receipts SET dispatched = 1 WHERE ordinal = ?',
    );
    this.#removeExpired = connection.prepare(`
      DELETE FROM receipts
      WHERE settled = 1 AND device_id = ? AND left_early IN (0, 1) AND at_ms <= ?`);
    this.#count = connection.prepare(`
      SELECT count(*) FILTER (WHERE left_early = 0) AS ledger,
        count(*) FILTER (WHERE left_early = 1) AS early
      FROM receipts WHERE device_id = ?`);
    this.#oldestSettledLeaves = connection.prepare(`
      UPDATE receipts SET left_early = 1 WHERE ordinal =
        (SELECT ordinal FROM receipts WHERE settled = 1 AND device_id = ? AND left_early = 0
         ORDER BY at_ms, ordinal LIMIT 1)`);
  }

  byKey(deviceId: string, idempotencyKey: string): ReceiptRow | undefined {
    return this.#byKey.get(deviceId, idempotencyKey);
  }

  byDelivery(deliveryId: string): ReceiptRow | undefined {
    return this.#byDelivery.get(deliveryId);
  }

  unresolved(agentId: string | undefined): ReceiptRow[] {
    return agentId === undefined ? this.#unresolved.all() : this.#unresolvedOfAgent.all(agentId);
  }

  newestOf(deviceId: string, query: ReceiptQuery): ReceiptRow[] {
    const { agentId = null, maxCount, unresolvedOnly } = query;
    return this.#newestOf.all(deviceId, unresolvedOnly ? 0 : 1, agentId, agentId, maxCount);
  }

  /** What instances other than this one left between a reservation and its end. */
  inFlightBefore(serverInstanceId: string): ReceiptRow[] {
    return this.#inFlightBefore.all(serverInstanceId);
  }

  insert(receipt: Receipt, origin: ReceiptOrigin, eventId: number): void {
    const counts = this.#countsOf(origin.deviceId);
    this.#insert.run(
      receipt.deliveryId,
      origin.deviceId,
      receipt.idempotencyKey,
      origin.intentDigest,
      receipt.operation,
      receipt.machineId,
      receipt.agentId,
      receipt.serverInstanceId,
      origin.textBytes,
      ...movingColumns(receipt),
      eventId,
    );
    counts.ledger += 1;
  }

  update(receipt: Receipt, eventId: number): void {
    this.#update.run(...movingColumns(receipt), eventId, receipt.deliveryId);
  }

  setDispatched(row: ReceiptRow): void {
    this.#setDispatched.run(row.ordinal);
  }

  /** Removes what settled at `untilMs` or earlier, and with it the guard of its key. */
  removeExpired(deviceId: string, untilMs: number): void {
    if (this.#removeExpired.run(deviceId, untilMs).changes > 0) this.#counts.delete(deviceId);
  }

  /** What the device has, from memory after the first look; see `forgetCounts`. */
  counts(deviceId: string): Readonly<Counts> {
    return this.#countsOf(deviceId);
  }

  /** Call where a transaction was taken back: the counts may be ahead of the table. */
  forgetCounts(): void {
    this.#counts.clear();
  }

  /** False where none is settled. */
  oldestSettledLeaves(deviceId: string): boolean {
    const counts = this.#countsOf(deviceId);
    if (this.#oldestSettledLeaves.run(deviceId).changes === 0) return false;
    counts.ledger -= 1;
    counts.early += 1;
    return true;
  }

  #countsOf(deviceId: string): Counts {
    let counts = this.#counts.get(deviceId);
    if (counts === undefined) {
      if (this.#counts.size >= maxCountedDevices) this.#counts.clear();
      counts = this.#count.get(deviceId) ?? { ledger: 0, early: 0 };
      this.#counts.set(deviceId, counts);
    }
    return counts;
  }
}

function movingColumns(receipt: Receipt): (string | number | null)[] {
  const { input } = receipt;
  return [
    receipt.state,
    receipt.turnId,
    receipt.error?.code ?? null,
    receipt.error?.message ?? null,
    receipt.at,
    input?.mode ?? null,
    input?.phase ?? null,
    input?.hold ?? null,
    input?.evidence ?? null,
  ];
}

/** The receipt with an error message that fits its row. */
export function bounded(receipt: Receipt): Receipt {
  const { error } = receipt;
  if (error === null || error.message.length <= maxErrorMessageCharacters) return receipt;
  const cut = error.message.slice(0, maxErrorMessageCharacters).replace(/\p{Surrogate}$/u, '');
  return { ...receipt, error: { code: error.code, message: `${cut}…` } };
}

export function receiptOf(row: ReceiptRow): Receipt {
  const input = inputOf(row);
  return {
    idempotencyKey: row.idempotency_key,
    deliveryId: row.delivery_id,
    operation: row.operation,
    state: row.state,
    machineId: row.machine_id,
    agentId: row.agent_id,
    serverInstanceId: row.server_instance_id,
    turnId: row.turn_id,
    error:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    at: row.at_ms,
    ...(input === null ? {} : { input }),
  };
}

function inputOf(row: ReceiptRow): InputStatus | null {
  if (row.mode === null || row.phase === null) return null;
  return {
    mode: row.mode,
    phase: row.phase,
    ...(row.hold === null ? {} : { hold: row.hold }),
    ...(row.evidence === null ? {} : { evidence: row.evidence }),
  };
}
