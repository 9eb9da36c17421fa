import type { EvidenceKind, InputMode, InputPhase, Receipt, ReceiptState } from '@ostler/protocol';

/** One state of a receipt, as long after its request as `atMs` says. */
export interface HistoryEntry {
  readonly state: ReceiptState;
  readonly mode: InputMode | null;
  readonly phase: InputPhase | null;
  readonly hold?: string;
  readonly evidence?: EvidenceKind;
  /** Milliseconds since the text was sent. */
  readonly atMs: number;
}

export interface ReportedReceipt {
  readonly idempotencyKey: string;
  readonly deliveryId: string;
  readonly text: string;
  /** Milliseconds since the first text was sent. */
  readonly sentAtMs: number;
  readonly state: ReceiptState;
  readonly error: Receipt['error'];
  readonly input: { readonly mode: InputMode; readonly phase: InputPhase } | null;
  readonly history: readonly HistoryEntry[];
}

export interface ModelReceived {
  readonly text: string;
  readonly count: number;
}

/** One step of the demo, as it stood at its end. */
export interface ReportedStep {
  readonly text: string;
  /** Milliseconds since the first text was sent. */
  readonly endedAtMs: number;
  /** The agent's screen, row by row. */
  readonly screen: readonly string[];
}

/** What `ostler demo --json` prints. */
export interface DemoReport {
  readonly engine: string;
  readonly version: string | null;
  readonly receipts: readonly ReportedReceipt[];
  readonly modelReceived: readonly ModelReceived[];
  readonly steps: readonly ReportedStep[];
  /** Every claim of a receipt held against what the model was given. */
  readonly claims: { readonly agree: boolean; readonly failed: readonly string[] };
}
