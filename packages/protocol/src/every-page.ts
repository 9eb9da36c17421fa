/** One answer of a list that may take several. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Nothing follows. */
  readonly complete: boolean;
}

/** The whole of a list of agents: asks behind the last one until the answer is complete. */
export async function everyPage<Item extends { readonly agentId: string }>(
  ask: (from: { after?: string }) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  for (let from: { after?: string } = {}; ; ) {
    const { complete, items } = await ask(from);
    all.push(...items);
    const last = items.at(-1);
    if (complete || last === undefined) return all;
    from = { after: last.agentId };
  }
}
