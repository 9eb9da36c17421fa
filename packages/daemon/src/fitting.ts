import { maxFrameBytes, type Page } from '@ostler/protocol';

/** What the rest of an answer may take beside a list. */
const besideBytes = 2_048;

/** The first of the items that fit into one frame, beside what else the frame holds. */
export function fitting<Item>(
  items: readonly Item[],
  usedBytes: number = besideBytes,
): readonly Item[] {
  let leftBytes = maxFrameBytes - usedBytes;
  for (const [index, item] of items.entries()) {
    leftBytes -= Buffer.byteLength(JSON.stringify(item)) + 1;
    if (leftBytes < 0) return items.slice(0, index);
  }
  return items;
}

/**
 * All of them in their own order where one frame takes them. Otherwise by their ids, which stay
 * while agents come and go between two pages: those that fit of the ones behind `after`.
 */
export function pageOf<Item extends { readonly agentId: string }>(
  items: readonly Item[],
  after: string | undefined,
): Page<Item> {
  if (after === undefined && fitting(items).length === items.length) {
    return { items, complete: true };
  }
  const behind = items
    .filter(({ agentId }) => after === undefined || agentId > after)
    .sort((one, other) => (one.agentId < other.agentId ? -1 : 1));
  const page = fitting(behind);
  return { items: page, complete: page.length === behind.length };
}
