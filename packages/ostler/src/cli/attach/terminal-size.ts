import { maxColumnsCells, maxRowsCells, minColumnsCells, minRowsCells } from '@ostler/protocol';

/** Null where the terminal doesn't know its size, as serial lines and fresh containers: the agent keeps its own. */
export function sizeOf({
  columns,
  rows,
}: {
  readonly columns: number;
  readonly rows: number;
}): { readonly cols: number; readonly rows: number } | null {
  if (!(columns > 0 && rows > 0)) return null;
  return {
    cols: Math.min(maxColumnsCells, Math.max(minColumnsCells, columns)),
    rows: Math.min(maxRowsCells, Math.max(minRowsCells, rows)),
  };
}
