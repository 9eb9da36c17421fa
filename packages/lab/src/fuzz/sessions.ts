import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chance, chance } from '../simulation/random.js';
import type { RecordEngine } from './fuzz-case.js';
import { fixturesDir } from './recorded.js';

/** Records of real sessions, by the engine that wrote them. */
export const keptRecords: Readonly<Record<RecordEngine, readonly string[]>> = {
  claude: ['claude/2.1.280/queue-and-interrupts', 'claude/2.1.328/queue-and-interrupts'],
  codex: [],
};

/** The lines of a record: a kept one, or one made up by its number. */
export function sessionLines(engine: RecordEngine, session: number | string): readonly string[] {
  if (typeof session === 'string')
    return readFileSync(join(fixturesDir, `${session}.jsonl`), 'utf8')
      .split('\n')
      .filter(Boolean);
  const lines = engine === 'claude' ? claudeSession(session) : codexSession(session);
  return lines.map((line) => JSON.stringify(line));
}

const words = ['fix it', 'go on', 'and now?', 'ünï ☕', 'a\nb\nc', 'same', 'same', 'x'.repeat(300)];

function stamps(): () => string {
  let atMs = Date.UTC(2026, 10, 30, 12);
  return () => {
    atMs += 7;
    return new Date(atMs).toISOString();
  };
}

function claudeSession(session: number): readonly object[] {
  const dice = chance(session, 'claude session');
  const stamp = stamps();
  const lines: object[] = [];
  let parent: string | null = null;
  let serial = 0;
  const add = (type: string, fields: object): string => {
    serial += 1;
    const uuid = `u-${session}-${serial}`;
    lines.push({
      type,
      uuid,
      parentUuid: parent,
      timestamp: stamp(),
      isSidechain: false,
      ...fields,
    });
    parent = uuid;
    return uuid;
  };
  const human = { origin: { kind: 'human' } };
  for (let turn = dice.int(1, 5); turn > 0; turn -= 1) {
    add('user', { ...human, message: { content: content(dice, pick(dice)) } });
    if (dice.is(0.4)) sideLines(dice, add, lines, stamp);
    for (let steered = dice.int(0, 2); steered > 0; steered -= 1) {
      const text = pick(dice);
      lines.push({
        type: 'queue-operation',
        operation: 'enqueue',
        content: text,
        timestamp: stamp(),
      });
      add('assistant', { message: { id: `m${serial}`, stop_reason: 'tool_use', content: [] } });
      const attachment = {
        type: 'queued_command',
        prompt: content(dice, text),
        source_uuid: `s-${session}-${serial}`,
      };
      add('attachment', { attachment: { ...attachment, commandMode: 'prompt' } });
    }
    endOfTurn(dice, add);
    if (dice.is(0.2))
      lines.push({
        type: 'queue-operation',
        operation: 'popAll',
        content: pick(dice),
        timestamp: stamp(),
      });
  }
  return lines;
}

/** What must not be taken for a person's prompt. */
function sideLines(
  dice: Chance,
  add: (type: string, fields: object) => string,
  lines: object[],
  stamp: () => string,
): void {
  const kind = dice.int(0, 3);
  const message = { content: 'not a prompt' };
  if (kind === 0) add('user', { isMeta: true, origin: { kind: 'human' }, message });
  if (kind === 1) add('user', { message });
  if (kind === 2) add('user', { origin: { kind: 'task-notification' }, message });
  if (kind === 3)
    lines.push({
      type: 'user',
      uuid: `side-${stamp()}`,
      parentUuid: null,
      timestamp: stamp(),
      isSidechain: true,
      origin: { kind: 'human' },
      message,
    });
}

function endOfTurn(dice: Chance, add: (type: string, fields: object) => string): void {
  const kind = dice.int(0, 9);
  const id = `end-${dice.int(0, 1e9)}`;
  const answer = (text: string): object => ({
    message: { id, stop_reason: 'end_turn', content: [{ type: 'text', text }] },
  });
  if (kind < 6) {
    add('assistant', answer('Done'));
    if (dice.is(0.4)) add('assistant', answer('.'));
    if (dice.is(0.7)) add('system', { subtype: 'turn_duration' });
  } else if (kind < 8) {
    const content = [{ type: 'text', text: '[Request interrupted by user]' }];
    add('user', { message: { content } });
  } else if (kind < 9) {
    add('assistant', { isApiErrorMessage: true, message: { id, content: 'API Error' } });
  } else {
    add('system', { subtype: 'turn_duration' });
  }
}

function content(dice: Chance, text: string): unknown {
  if (dice.is(0.5)) return text;
  const cut = dice.int(0, text.length);
  return [text.slice(0, cut), text.slice(cut)].map((part) => ({ type: 'text', text: part }));
}

function codexSession(session: number): readonly object[] {
  const dice = chance(session, 'codex session');
  const stamp = stamps();
  const old = dice.is(0.3);
  const lines: object[] = [
    {
      timestamp: stamp(),
      type: 'session_meta',
      payload: { id: `t-${session}`, cwd: '/w', cli_version: '0.169.0' },
    },
  ];
  const event = (payload: object): void => {
    lines.push({ timestamp: stamp(), type: 'event_msg', payload });
  };
  let serial = 0;
  for (let turn = dice.int(1, 5); turn > 0; turn -= 1) {
    const turn_id = `turn-${session}-${turn}`;
    event({ type: 'task_started', turn_id });
    for (let inputs = dice.int(1, 3); inputs > 0; inputs -= 1) {
      serial += 1;
      const text = pick(dice);
      if (old) event({ type: 'user_message', message: text });
      else
        event({
          type: 'item_completed',
          turn_id,
          item: {
            type: 'UserMessage',
            id: `i-${session}-${serial}`,
            content: [{ type: 'text', text }],
          },
        });
      lines.push({
        timestamp: stamp(),
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: text },
      });
    }
    const end = dice.int(0, 9);
    if (end < 6) event({ type: 'task_complete', turn_id, last_agent_message: 'Done.' });
    else if (end < 8) event({ type: 'turn_aborted', turn_id, reason: 'interrupted' });
    else
      event({ type: 'task_complete', turn_id, last_agent_message: null, error: { message: 'no' } });
  }
  return lines;
}

function pick(dice: Chance): string {
  return words[dice.int(0, words.length - 1)] ?? 'fix it';
}
