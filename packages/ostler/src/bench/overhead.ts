import { type Spread, spreadOf } from './statistics.js';
import { type TextKind, textKinds } from './texts.js';
import type { DeliveryTimes, Timeline } from './timeline.js';

/** What one delivery cost beyond what its agent took, in milliseconds. */
interface Cost {
  readonly kind: TextKind;
  readonly totalMs: number;
  readonly floorMs: number;
  readonly toPasteMs: number;
  readonly echoToEnterMs: number;
  readonly evidenceToEventMs: number;
}

export interface OverheadReport {
  readonly count: number;
  /** Total over floor, per delivery. */
  readonly ratio: Spread | null;
  readonly ratioByKind: readonly { readonly kind: TextKind; readonly ratio: Spread | null }[];
  readonly totalMs: Spread | null;
  /** What the agent took: paste to whole echo, and Enter to evidence. */
  readonly floorMs: Spread | null;
  readonly echoMs: Spread | null;
  readonly answerMs: Spread | null;
  readonly overheadMs: Spread | null;
  readonly toPasteMs: Spread | null;
  readonly echoToEnterMs: Spread | null;
  readonly evidenceToEventMs: Spread | null;
  /** How many were accepted by which observation. */
  readonly evidence: Readonly<Record<string, number>>;
  /** Deliveries that took more than one Enter. */
  readonly retried: number;
  readonly left: Timeline['left'];
}

export function overheadOf({ deliveries, left }: Timeline): OverheadReport {
  const costs = deliveries.map(costOf);
  const of = (pick: (cost: Cost) => number): Spread | null => spreadOf(costs.map(pick));
  const ratio = (cost: Cost): number => cost.totalMs / cost.floorMs;
  const evidence: Record<string, number> = {};
  for (const each of deliveries) evidence[each.evidence] = (evidence[each.evidence] ?? 0) + 1;
  return {
    count: costs.length,
    ratio: of(ratio),
    ratioByKind: textKinds.map((kind) => ({
      kind,
      ratio: spreadOf(costs.filter((cost) => cost.kind === kind).map(ratio)),
    })),
    totalMs: of((cost) => cost.totalMs),
    floorMs: of((cost) => cost.floorMs),
    echoMs: spreadOf(deliveries.map((each) => each.echoMs - each.pasteMs)),
    answerMs: spreadOf(deliveries.map((each) => each.evidenceMs - each.enterMs)),
    overheadMs: of((cost) => cost.totalMs - cost.floorMs),
    toPasteMs: of((cost) => cost.toPasteMs),
    echoToEnterMs: of((cost) => cost.echoToEnterMs),
    evidenceToEventMs: of((cost) => cost.evidenceToEventMs),
    evidence,
    retried: deliveries.filter(({ enters }) => enters > 1).length,
    left,
  };
}

function costOf(times: DeliveryTimes): Cost {
  const { kind, sendMs, pasteMs, echoMs, enterMs, evidenceMs, acceptedMs } = times;
  return {
    kind,
    totalMs: acceptedMs - sendMs,
    floorMs: echoMs - pasteMs + (evidenceMs - enterMs),
    toPasteMs: pasteMs - sendMs,
    echoToEnterMs: enterMs - echoMs,
    evidenceToEventMs: acceptedMs - evidenceMs,
  };
}
