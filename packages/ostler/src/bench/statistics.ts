/** What a series of measured numbers comes to. */
export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly least: number;
  readonly most: number;
}

/** Null where nothing was measured. Percentiles by nearest rank, the median of an even count is the mean of the two in the middle. */
export function spreadOf(values: readonly number[]): Spread | null {
  const sorted = [...values].sort((one, other) => one - other);
  const [least] = sorted;
  const most = sorted.at(-1);
  if (least === undefined || most === undefined) return null;
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? most;
  return { count: sorted.length, median: medianOf(sorted), p95, least, most };
}

function medianOf(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
