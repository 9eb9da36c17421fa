import type { Receipt, TurnResult } from '@ostler/protocol';
import { pasteStart } from '@ostler/terminal';
import type { Checks } from './invariant.js';
import { broken } from './invariants.js';
import type { Piece } from './model-draft.js';
import { eraseKey } from './model-reader.js';
import type { Moment } from './plan.js';
import type { Leaving, TerminalWatch } from './sim-terminal.js';
import type { DeliveryTruth, SessionTruth, WriteKind } from './truth.js';
import type { Witness } from './witness.js';

export interface Violation {
  readonly invariant: string;
  readonly what: string;
  readonly atMs: number;
}

/** What a run amounts to, beside its violations. */
export interface Tally {
  deliveries: number;
  submitted: number;
  /** A dialog nobody could have seen took a key of ours: it opened while the key was on its way. */
  unseenDialogKeys: number;
  /** A person brought an equal text into the composer in the instant before ours, and it showed as ours alone. */
  unseenTwins: number;
  /** Receipts that ended unknown, and of them those of which the record had told a session. */
  unknown: number;
  unknownDespiteEvidence: number;
  /** Inputs the record told a living session of, and how long after it their receipts said accepted, summed. */
  evidenced: number;
  evidenceUsedAfterMs: number;
  /** From the submission to the receipt that says accepted, summed over `accepted`. */
  accepted: number;
  acceptedAfterMs: number;
  results: number;
  looks: number;
  steps: number;
}

export const emptyTally = (): Tally => ({
  deliveries: 0,
  submitted: 0,
  unseenDialogKeys: 0,
  unseenTwins: 0,
  unknown: 0,
  unknownDespiteEvidence: 0,
  evidenced: 0,
  evidenceUsedAfterMs: 0,
  accepted: 0,
  acceptedAfterMs: 0,
  results: 0,
  looks: 0,
  steps: 0,
});

interface WatchParts {
  readonly nowMs: () => number;
  /** Null where nobody reads the trace. */
  readonly trace: string[] | null;
  readonly moment: (session: number, moment: Moment) => void;
  readonly touched: () => void;
}

/** Sees everything, tells the truth apart from what is said, and checks each fact as it comes. */
export class Watch {
  readonly violations: Violation[] = [];
  readonly tally: Tally = emptyTally();
  readonly deliveries: Map<string, DeliveryTruth> = new Map();
  readonly sessions: SessionTruth[] = [];
  readonly #parts: WatchParts;
  readonly #byWrite = new Map<number, DeliveryTruth>();
  readonly #answered = new Set<string>();
  /** Restarts so far. */
  life = 0;
  #order = 0;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  note(text: () => string): void {
    this.#parts.trace?.push(`${this.#parts.nowMs().toFixed(0).padStart(8)} ms  ${text()}`);
  }

  check<Kind extends keyof Checks>(kind: Kind, fact: Parameters<Checks[Kind]>[0]): void {
    const found = broken(kind, fact);
    if (!found) return;
    this.violations.push({ invariant: found.name, what: found.what, atMs: this.#parts.nowMs() });
    this.note(() => `*** ${found.name}: ${found.what}`);
  }

  /** An error nobody planned is a violation too. */
  fault(what: string): void {
    this.violations.push({ invariant: 'no-error', what, atMs: this.#parts.nowMs() });
    this.note(() => `*** no-error: ${what}`);
  }

  reserved(receipt: Receipt, request: { readonly text: string; readonly session: number }): void {
    const session = this.sessions[request.session];
    if (!session) return;
    session.reserved += 1;
    const delivery: DeliveryTruth = {
      deliveryId: receipt.deliveryId,
      key: receipt.idempotencyKey,
      session: request.session,
      agentId: receipt.agentId,
      operation: receipt.operation,
      text: request.text,
      order: session.reserved,
      reservedAtMs: this.#parts.nowMs(),
      life: this.life,
      receipt,
      pastes: 0,
      enters: 0,
      lastWrite: null,
      submittedByUs: 0,
      submittedByPerson: 0,
      consumed: 0,
      withdrawn: false,
      turnEnded: null,
      answer: null,
      submittedAtMs: null,
      evidenceAtMs: null,
      acceptedAtMs: null,
      resolved: false,
    };
    this.deliveries.set(receipt.deliveryId, delivery);
    if (receipt.operation === 'turn.send') this.tally.deliveries += 1;
    this.note(() => `${delivery.key} is reserved`);
  }

  /** Sums up what became of each input. */
  count(): void {
    const { tally } = this;
    for (const { acceptedAtMs, evidenceAtMs, receipt, resolved } of this.deliveries.values()) {
      if (receipt.state === 'unknown') tally.unknown += 1;
      if (evidenceAtMs === null || resolved) continue;
      tally.evidenced += 1;
      if (acceptedAtMs !== null) {
        tally.evidenceUsedAfterMs += Math.max(0, acceptedAtMs - evidenceAtMs);
      } else if (receipt.state === 'unknown') {
        tally.unknownDespiteEvidence += 1;
      }
    }
  }

  /** A new process: what its predecessor was told went with it, but for the receipts. */
  newLife(): void {
    this.life += 1;
    for (const delivery of this.deliveries.values()) delivery.evidenceAtMs = null;
  }

  deliveryOf(key: string): DeliveryTruth | undefined {
    return [...this.deliveries.values()].find((delivery) => delivery.key === key);
  }

  receiptIs(after: Receipt): void {
    const delivery = this.deliveries.get(after.deliveryId);
    if (!delivery) return;
    const before = delivery.receipt;
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) return;
    this.note(() => `${delivery.key}: ${describeReceipt(after)}`);
    this.check('receipt', { delivery, before, after });
    delivery.receipt = after;
    if (after.input?.phase === 'accepted' && delivery.acceptedAtMs === null) {
      delivery.acceptedAtMs = this.#parts.nowMs();
      if (delivery.submittedAtMs !== null) {
        this.tally.accepted += 1;
        this.tally.acceptedAfterMs += delivery.acceptedAtMs - delivery.submittedAtMs;
      }
    }
  }

  resultIs(result: TurnResult, isPrivate: boolean): void {
    const ids = result.correlation.inputs.map((input) => input.deliveryId);
    const members = ids.map((id) => this.deliveries.get(id) ?? null);
    this.note(() => `a result for ${members.map((member) => member?.key).join(', ')}`);
    const earlier = ids.filter((id) => this.#answered.has(id)).length;
    for (const id of ids) this.#answered.add(id);
    this.tally.results += 1;
    this.check('result', { result, isPrivate, members, earlier });
  }

  /** The journal says which delivery the next bytes are for. */
  journalled(deliveryId: string): void {
    const delivery = this.deliveries.get(deliveryId);
    const session = delivery ? this.sessions[delivery.session] : undefined;
    if (session && delivery?.operation === 'turn.send') session.writing = delivery;
  }

  /** The living session of the delivery is told by the record. */
  evidence(session: SessionTruth, text: string, isAmbiguous: (text: string) => boolean): void {
    if (isAmbiguous(text)) return;
    for (const delivery of this.deliveries.values()) {
      const ours = delivery.session === session.index && delivery.text === text;
      if (!ours || delivery.agentId !== session.agentId) continue;
      if (delivery.life !== this.life) continue;
      if (delivery.submittedByUs + delivery.submittedByPerson === 0) continue;
      delivery.evidenceAtMs ??= this.#parts.nowMs();
    }
  }

  terminal(session: SessionTruth): TerminalWatch {
    const { moment, touched } = this.#parts;
    return {
      nextOrder: () => (this.#order += 1),
      leaving: (leaving) => this.#leaving(session, leaving),
      answered: (serial, outcome) => {
        const delivery = this.#byWrite.get(serial);
        if (delivery) delivery.lastWrite = outcome;
      },
      moment: (name) => {
        if (name === 'look_given') this.tally.looks += 1;
        moment(session.index, name);
      },
      touched,
      note: (text) => this.note(() => `[${session.index}] ${text()}`),
    };
  }

  witness(session: SessionTruth): Witness {
    return {
      keyRead: (key, { by }) => {
        if (by !== 'us') return;
        if (key === 'paste') this.#parts.moment(session.index, 'paste_read');
        if (key === 'enter') this.#parts.moment(session.index, 'enter_read');
      },
      submitted: (pieces, sent) => {
        const deliveries = this.#oursOf(pieces);
        this.note(
          () =>
            `[${session.index}] the engine takes ${JSON.stringify(textsOf(pieces))} (${sent.by})`,
        );
        if (sent.by === 'us' && areTwins(pieces)) this.tally.unseenTwins += 1;
        else this.check('submit', { session, pieces, sent, deliveries });
        for (const delivery of deliveries) {
          if (sent.by === 'us') {
            delivery.submittedByUs += 1;
            session.lastSubmitted = delivery.order;
          } else delivery.submittedByPerson += 1;
          delivery.submittedAtMs ??= this.#parts.nowMs();
          this.tally.submitted += 1;
        }
      },
      consumed: (pieces) => {
        for (const delivery of this.#oursOf(pieces)) delivery.consumed += 1;
      },
      withdrawn: (pieces) => {
        this.note(() => `[${session.index}] the engine gives its queue back`);
        for (const delivery of this.#oursOf(pieces)) delivery.withdrawn = true;
      },
      turnEnded: (pieces, outcome, answer) => {
        this.note(() => `[${session.index}] the turn ends: ${outcome}`);
        for (const delivery of this.#oursOf(pieces)) {
          delivery.turnEnded = outcome;
          delivery.answer = answer;
        }
      },
      dialogKey: (dialog, key, sent) => {
        const seen = session.seenAtWrite.get(sent.serial) ?? null;
        this.note(() => `[${session.index}] dialog ${dialog.number} takes ${key} (${sent.by})`);
        this.check('dialog', { session, dialog, key, sent, seen });
        const unseen = seen && seen.view?.dialog?.number !== dialog.number;
        if (sent.by === 'us' && unseen) this.tally.unseenDialogKeys += 1;
      },
      erased: (pieces, sent) => {
        const seen = session.seenAtWrite.get(sent.serial)?.view ?? null;
        this.note(() => `[${session.index}] the draft is erased (${sent.by})`);
        if (sent.by === 'us') this.check('erase', { session, pieces, seen });
      },
      shellRead: (data, sent) => {
        this.note(() => `[${session.index}] the shell reads ${JSON.stringify(data)} (${sent.by})`);
        if (sent.by === 'us') this.check('shell', session.seenAtWrite.get(sent.serial) ?? null);
      },
      note: (text) => this.note(() => `[${session.index}] ${text()}`),
    };
  }

  #leaving(session: SessionTruth, leaving: Leaving): void {
    const what = kindOf(leaving.data);
    const delivery = subjectOf(session, what);
    this.note(
      () =>
        `[${session.index}] ${what} leaves as write ${leaving.serial}${delivery ? ` for ${delivery.key}` : ''}`,
    );
    this.check('write', { session, what, delivery, leaving });
    session.lastWriteOrder = leaving.order;
    session.seenAtWrite.set(leaving.serial, { view: leaving.arrived, what });
    if (!delivery) return;
    this.#byWrite.set(leaving.serial, delivery);
    delivery.lastWrite = null;
    if (what === 'paste') {
      delivery.pastes += 1;
      session.lastPasted = delivery.order;
      session.pasted = delivery;
    }
    if (what === 'enter') delivery.enters += 1;
  }

  #oursOf(pieces: readonly Piece[]): DeliveryTruth[] {
    const found = pieces.flatMap(({ kind, from }) => {
      const delivery = kind === 'paste' ? this.#byWrite.get(from) : undefined;
      return delivery ? [delivery] : [];
    });
    return [...new Set(found)];
  }
}

function areTwins([first, ...others]: readonly Piece[]): boolean {
  return others.length > 0 && others.every(({ text }) => text === first?.text);
}

function kindOf(data: string): WriteKind {
  if (data.startsWith(pasteStart)) return 'paste';
  if (data === '\r') return 'enter';
  return data === eraseKey ? 'erase' : 'control';
}

/** The delivery these bytes are for: an erasure takes back what was pasted, whatever was journalled since. */
function subjectOf({ pasted, writing }: SessionTruth, what: WriteKind): DeliveryTruth | null {
  if (what === 'control') return null;
  return what === 'erase' ? pasted : writing;
}

const textsOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('|');

export function describeReceipt({ state, input, error }: Receipt): string {
  const parts = [
    state,
    input ? `${input.mode} ${input.phase}` : '',
    input?.hold ? `hold=${input.hold}` : '',
    input?.evidence ? `by ${input.evidence}` : '',
    error ? `(${error.code})` : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
