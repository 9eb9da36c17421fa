import { maxFrameBytes } from '@ostler/protocol';

/** What the rest of an answer may take beside a list. */
const besideBytes = 2_048;

/** The first of the items that fit into one frame together. */
export function fitting<Item>(items: readonly Item[]): readonly Item[] {
  let leftBytes = maxFrameBytes - besideBytes;
  for (const [index, item] of items.entries()) {
    leftBytes -= Buffer.byteLength(JSON.stringify(item)) + 1;
    if (leftBytes < 0) return items.slice(0, index);
  }
  return items;
}
