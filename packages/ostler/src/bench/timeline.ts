import type { EngineReader, PreparedBody, Reading } from '@ostler/engines';
import { type Cast, loadCast } from '@ostler/engines/recordings';
import { Screen, type ScreenSnapshot } from '@ostler/terminal';
import type { SentText, Series } from './send-series.js';
import { beginningOf, type TextKind } from './texts.js';

/** One delivery's moments, all on the recording's own clock. */
export interface DeliveryTimes {
  readonly kind: TextKind;
  readonly sendMs: number;
  readonly pasteMs: number;
  /** Arrival of the first output that made the draft exactly ours. */
  readonly echoMs: number;
  readonly enterMs: number;
  /** Arrival of the observation that acceptance rests on. */
  readonly evidenceMs: number;
  readonly acceptedMs: number;
  readonly evidence: string;
  readonly enters: number;
  readonly leaseMs: number | null;
}

export interface Timeline {
  readonly deliveries: readonly DeliveryTimes[];
  /** From the one write to the composer's clearing; a lost Enter is counted apart. */
  readonly blindMs: readonly number[];
  readonly blindLost: number;
  /** What could not be measured, and why. */
  readonly left: readonly { readonly key: string; readonly why: string }[];
}

interface Open {
  readonly sent: SentText;
  readonly sendMs: number;
  body: PreparedBody | null;
  leaseAt: number | null;
  leaseMs: number | null;
  pasteMs: number | null;
  echoMs: number | null;
  enterMs: number | null;
  enters: number;
  clearedMs: number | null;
  besideMs: Map<string, number>;
}

/** Replays a rig's recording and reads each delivery's moments from it. */
export async function readTimeline(
  castPath: string,
  reader: EngineReader,
  series: Series,
): Promise<Timeline> {
  return await new TimelineReader(await loadCast(castPath), reader, series).read();
}

const screenEvidence: ReadonlySet<string> = new Set(['composer_left', 'queue_shown']);

class TimelineReader {
  readonly #cast: Cast;
  readonly #reader: EngineReader;
  readonly #sent: ReadonlyMap<string, SentText>;
  readonly #deliveries: DeliveryTimes[] = [];
  readonly #left: { key: string; why: string }[] = [];
  readonly #blindMs: number[] = [];
  #blindLost = 0;
  #open: Open | null = null;
  /** Accepted, its lease not yet given back. */
  #closing: { times: Omit<DeliveryTimes, 'leaseMs'>; leaseAt: number | null } | null = null;
  #blind: { sent: SentText; writtenMs: number | null } | null = null;

  constructor(cast: Cast, reader: EngineReader, series: Series) {
    this.#cast = cast;
    this.#reader = reader;
    this.#sent = new Map([...series.sent, ...series.blind].map((sent) => [sent.key, sent]));
  }

  async read(): Promise<Timeline> {
    const { events, header } = this.#cast;
    using screen = new Screen({ cols: header.width, rows: header.height });
    for (const event of events) {
      const atMs = event.atSeconds * 1_000;
      if (event.kind === 'o') {
        screen.feed(event.data);
        if (this.#open || this.#blind) this.#look(await screen.look(), atMs);
      } else if (event.kind === 'i') this.#input(event.data, atMs);
      else if (event.kind === 'm') this.#mark(event.data, atMs, await screen.look());
    }
    return {
      deliveries: this.#deliveries,
      blindMs: this.#blindMs,
      blindLost: this.#blindLost,
      left: this.#left,
    };
  }

  #mark(label: string, atMs: number, snapshot: ScreenSnapshot): void {
    const [word, key = '', evidence = ''] = label.split(' ');
    const open = this.#open;
    switch (word) {
      case 'send':
        this.#begin(key, atMs, snapshot);
        break;
      case 'blind': {
        const sent = this.#sent.get(key);
        this.#blind = sent ? { sent, writtenMs: null } : null;
        break;
      }
      case 'lease':
        if (open) open.leaseAt = atMs;
        break;
      case 'released':
        if (this.#closing) this.#end(atMs);
        break;
      case 'beside':
        if (open?.enterMs != null && !open.besideMs.has(key)) open.besideMs.set(key, atMs);
        break;
      case 'accepted':
        if (open?.sent.key === key) this.#accepted(open, evidence, atMs);
        break;
      default:
        break;
    }
  }

  #begin(key: string, sendMs: number, snapshot: ScreenSnapshot): void {
    if (this.#open) this.#leave(this.#open, 'another was sent before it was accepted');
    const sent = this.#sent.get(key);
    if (!sent) return;
    const verdict = this.#reader.prepareBody(sent.text, snapshot);
    this.#open = {
      sent,
      sendMs,
      body: verdict.kind === 'ready' ? verdict.body : null,
      leaseAt: null,
      leaseMs: null,
      pasteMs: null,
      echoMs: null,
      enterMs: null,
      enters: 0,
      clearedMs: null,
      besideMs: new Map(),
    };
  }

  #input(data: string, atMs: number): void {
    const blind = this.#blind;
    if (blind && data.includes(beginningOf(blind.sent.text))) blind.writtenMs = atMs;
    else if (blind && data === '\r') {
      this.#blindLost += 1;
      this.#blind = null;
    }
    const open = this.#open;
    if (!open) return;
    if (open.pasteMs === null && data.includes(beginningOf(open.sent.text))) open.pasteMs = atMs;
    if (open.pasteMs !== null && data === '\r') {
      open.enterMs = atMs;
      open.enters += 1;
    }
  }

  #look(snapshot: ScreenSnapshot, atMs: number): void {
    const reading = this.#reader.read(snapshot);
    const blind = this.#blind;
    if (blind?.writtenMs != null && isClear(reading)) {
      const beginning = beginningOf(blind.sent.text);
      if (snapshot.rows.some((row) => row.text.includes(beginning))) {
        this.#blindMs.push(atMs - blind.writtenMs);
        this.#blind = null;
      }
    }
    const open = this.#open;
    if (!open?.body || open.pasteMs === null || !reading.readable || reading.hold !== null) return;
    if (open.enterMs === null) {
      if (open.echoMs === null && this.#matches(open.body, reading, snapshot) === 'exact') {
        open.echoMs = atMs;
      }
    } else if (open.clearedMs === null && reading.composer) {
      const match = this.#matches(open.body, reading, snapshot);
      if (match === 'empty' || (match !== 'exact' && reading.queue.length > 0)) {
        open.clearedMs = atMs;
      }
    }
  }

  #matches(body: PreparedBody, reading: Reading, snapshot: ScreenSnapshot): string {
    return this.#reader.matchDraft(reading, body, snapshot);
  }

  #accepted(open: Open, evidence: string, acceptedMs: number): void {
    this.#open = null;
    const evidenceMs = screenEvidence.has(evidence)
      ? open.clearedMs
      : (open.besideMs.get(evidence) ?? null);
    const { echoMs, enterMs, pasteMs, sendMs, sent } = open;
    if (pasteMs === null || enterMs === null) return this.#leave(open, 'nothing was written');
    if (echoMs === null) return this.#leave(open, 'the replay shows no exact draft before Enter');
    if (evidenceMs === null) return this.#leave(open, `the replay shows no ${evidence}`);
    const times = { sendMs, pasteMs, echoMs, enterMs, evidenceMs, acceptedMs };
    this.#closing = {
      times: { kind: sent.kind, ...times, evidence, enters: open.enters },
      leaseAt: open.leaseAt,
    };
  }

  #end(releasedMs: number): void {
    if (!this.#closing) return;
    const { leaseAt, times } = this.#closing;
    this.#closing = null;
    this.#deliveries.push({ ...times, leaseMs: leaseAt === null ? null : releasedMs - leaseAt });
  }

  #leave({ sent: { key } }: Open, why: string): void {
    this.#open = null;
    this.#left.push({ key, why });
  }
}

function isClear(reading: Reading): boolean {
  return reading.composer !== null && reading.composer.draft === '' && reading.hold === null;
}
