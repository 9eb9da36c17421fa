import type { Random, Trace, Truth } from './damage.js';

/** A session as Claude Code writes it, and which end closes which inputs. */
export function claudeSession(random: Random): Trace {
  const lines: object[] = [];
  const truths: Truth[] = [];
  let count = 0;
  let leaf: string | null = null;
  const uuid = (kind: string): string => `${kind}${(count += 1)}`;
  const time = (): string => new Date(1_800_000_000_000 + count * 10).toISOString();
  const put = (kind: string, entry: object): string => {
    const id = uuid(kind);
    lines.push({ uuid: id, parentUuid: leaf, timestamp: time(), isSidechain: false, ...entry });
    leaf = id;
    return id;
  };
  const human = (promptSource: string): string =>
    put('u', {
      type: 'user',
      origin: { kind: 'human' },
      promptSource,
      message: { role: 'user', content: random.pick(['same', 'other', `text ${count}`]) },
    });
  const noise = (): void => {
    if (random.chance(0.4)) put('n', { type: 'attachment', attachment: { type: 'date' } });
    if (random.chance(0.1)) {
      const id = uuid('s');
      const message = { id: `side${id}`, content: [{ type: 'text', text: 'aside' }] };
      lines.push({ type: 'assistant', uuid: id, parentUuid: leaf, isSidechain: true, message });
    }
    if (random.chance(0.2)) {
      const operation = random.pick(['enqueue', 'dequeue', 'remove']);
      lines.push({ type: 'queue-operation', operation, content: 'same', timestamp: time() });
    }
    if (random.chance(0.05)) {
      const id = uuid('c');
      const kind = { type: 'system', subtype: 'compact_boundary', timestamp: time() };
      lines.push({ uuid: id, parentUuid: null, logicalParentUuid: leaf, ...kind });
      leaf = id;
    }
  };
  const answer = (id: string, block: object, more: object = {}): string =>
    put('a', { type: 'assistant', message: { id, content: [block], ...more }, timestamp: time() });

  const turns = 1 + random.below(5);
  for (let turn = 0; turn < turns; turn += 1) {
    const before: string | null = leaf;
    const inputs = random.chance(0.3) && turn > 0 ? [] : [human('typed')];
    while (inputs.length === 0 || (inputs.length < 3 && random.chance(0.3) && turn > 0)) {
      if (inputs.length > 0 && inputs[0] && random.chance(0.5)) break;
      inputs.push(human('queued'));
    }
    noise();
    if (random.chance(0.1)) {
      // Interrupted before any answer: the next prompt stands beside it.
      leaf = before;
      truths.push({ ends: [], outcome: 'cancelled', inputRefs: inputs, text: null });
      continue;
    }
    const tools = random.below(3);
    for (let tool = 0; tool < tools; tool += 1) {
      answer(
        uuid('m'),
        { type: 'tool_use', id: uuid('t'), name: 'Bash' },
        { stop_reason: 'tool_use' },
      );
      put('r', { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't' }] } });
      while (random.chance(0.4)) {
        inputs.push(
          put('q', {
            type: 'attachment',
            attachment: { type: 'queued_command', prompt: 'same', commandMode: 'prompt' },
          }),
        );
      }
      noise();
    }
    if (random.chance(0.15)) {
      const content = [{ type: 'text', text: '[Request interrupted by user]' }];
      const end = put('i', { type: 'user', message: { content } });
      truths.push({ ends: [end], outcome: 'cancelled', inputRefs: inputs, text: null });
      continue;
    }
    const message = uuid('m');
    const texts = ['One. ', 'Two.'].slice(0, 1 + random.below(2));
    const ends = texts.map((text) =>
      answer(message, { type: 'text', text }, { stop_reason: 'end_turn' }),
    );
    truths.push({ ends, outcome: 'completed', inputRefs: inputs, text: texts.join('') });
    noise();
    put('d', { type: 'system', subtype: 'turn_duration' });
  }
  return { lines, truths };
}
