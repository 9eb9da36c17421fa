import { isCoded, VirtualClock } from '@ostler/runtime';
import { describe, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from './model-server.js';

const tools = [{ name: 'Bash' }, { name: 'Write' }];
type Message = { role: string; content: unknown };

async function messages(
  server: ModelServer,
  conversation: readonly Message[],
  extra: Record<string, unknown> = {},
): Promise<Response> {
  return fetch(`${server.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-claude-code-session-id': 'one' },
    body: JSON.stringify({ model: 'm', tools, stream: true, messages: conversation, ...extra }),
  });
}

async function responses(
  server: ModelServer,
  input: readonly unknown[],
  extra: Record<string, unknown> = {},
): Promise<Response> {
  return fetch(`${server.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'session-id': 'one' },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      tools: [{ type: 'function', name: 'exec_command' }, { type: 'web_search' }],
      input,
      ...extra,
    }),
  });
}

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });
const answered = (text: string): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
});
const item = (role: string, text: string): Record<string, unknown> => ({
  type: 'message',
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
});

function events(stream: string): { type: string; [key: string]: unknown }[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as { type: string });
}

describe('the Messages wire', () => {
  test('streams what the script says', async () => {
    await using server = await startModelServer({
      script: {
        rules: [{ when: { equals: 'hi' }, steps: [{ do: 'say', text: 'hello', chunkChars: 2 }] }],
      },
    });
    const stream = events(await (await messages(server, [says('hi')])).text());
    expect(stream.map((event) => event.type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  test('answers in one body when nobody streams', async () => {
    await using server = await startModelServer();
    const reply = await messages(server, [says('hi')], { stream: false });
    expect(await reply.json()).toMatchObject({
      content: [{ type: 'text', text: 'Done.' }],
      stop_reason: 'end_turn',
    });
  });

  test('goes on after a tool, and answers what was said meanwhile', async () => {
    await using server = await startModelServer({
      script: {
        rules: [
          {
            when: { equals: 'work' },
            steps: [
              { do: 'shell', command: 'sleep 4' },
              { do: 'say', text: 'worked' },
            ],
          },
          { when: { equals: 'B' }, steps: [{ do: 'say', text: ' and B' }] },
        ],
      },
    });
    const first = events(await (await messages(server, [says('work')])).text());
    const call = first.find((event) => event.type === 'content_block_start')?.['content_block'];
    expect(call).toMatchObject({ type: 'tool_use', name: 'Bash' });
    const { id } = call as { id: string };
    const wrapped =
      'The user sent a new message while you were working:\nB\n\nThis is how Claude Code surfaces messages the user sends mid-turn — so.\n';
    const second = await messages(
      server,
      [
        says('work'),
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: id, content: '' },
            { type: 'text', text: wrapped },
          ],
        },
        { role: 'system', content: 'tokens left' },
      ],
      { stream: false },
    );
    expect(await second.json()).toMatchObject({ content: [{ text: 'worked and B' }] });
    expect(server.received()).toEqual([
      { text: 'work', count: 1 },
      { text: 'B', count: 1 },
    ]);
    expect(server.prompts()[1]?.raw).toEqual([wrapped]);
  });

  test('fails with a status before it speaks, with an event after', async () => {
    await using server = await startModelServer({
      script: {
        rules: [
          { when: { equals: 'down' }, steps: [{ do: 'fail', status: 529 }] },
          {
            when: { equals: 'late' },
            steps: [
              { do: 'say', text: 'a' },
              { do: 'fail', status: 500 },
            ],
          },
        ],
      },
    });
    expect((await messages(server, [says('down')])).status).toBe(529);
    const late = events(await (await messages(server, [says('late')])).text());
    expect(late.at(-1)?.type).toBe('error');
  });

  test('unwraps a collapsed paste only with matching ids', async () => {
    await using server = await startModelServer();
    const wrap = (open: string, close: string): string =>
      `\n\n<pasted_content id="${open}">\nTEXT\n</pasted_content id="${close}">\n`;
    await messages(server, [says(wrap('a1', 'a1')), says(wrap('a1', 'b2'))]);
    expect(server.countOf('TEXT')).toBe(1);
    expect(server.received()).toHaveLength(2);
  });
});

describe('the Responses wire', () => {
  test('streams text and calls', async () => {
    await using server = await startModelServer({
      script: {
        otherwise: [
          { do: 'say', text: 'now' },
          { do: 'shell', command: 'sleep 4', ask: true },
        ],
      },
    });
    const stream = events(await (await responses(server, [item('user', 'go')])).text());
    expect(stream.map((event) => event.type)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.output_text.delta',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ]);
    const call = stream[4]?.['item'] as { arguments: string };
    expect(JSON.parse(call.arguments)).toMatchObject({
      cmd: 'sleep 4',
      sandbox_permissions: 'require_escalated',
    });
  });

  test('leaves out what the engine adds under the role of a user', async () => {
    await using server = await startModelServer();
    await responses(server, [
      item('user', '<environment_context>\n  <cwd>/x</cwd>\n</environment_context>'),
      item('user', 'go'),
    ]);
    expect(server.received()).toEqual([{ text: 'go', count: 1 }]);
  });

  test('a title thread is a side request', async () => {
    await using server = await startModelServer();
    await fetch(`${server.url}/v1/responses`, {
      method: 'POST',
      headers: { 'x-codex-turn-metadata': '{"thread_source":"thread_title"}' },
      body: JSON.stringify({ model: 'm', stream: true, input: [item('user', 'name it')] }),
    });
    expect(server.received()).toEqual([]);
  });
});

describe('counting', () => {
  test('a repeated history counts once, equal texts count apart', async () => {
    await using server = await startModelServer();
    await messages(server, [says('A')]);
    await messages(server, [says('A'), answered('x'), says('A'), says('B')]);
    await messages(server, [says('A'), answered('x'), says('A'), says('B')]);
    expect(server.received()).toEqual([
      { text: 'A', count: 2 },
      { text: 'B', count: 1 },
    ]);
    expect(server.prompts().map((prompt) => prompt.text)).toEqual(['A', 'A', 'B']);
  });

  test('a cut history neither loses nor doubles', async () => {
    await using server = await startModelServer();
    await messages(server, [says('A'), answered('x'), says('B')]);
    await messages(server, [says('B'), answered('summary'), says('A')]);
    expect(server.countOf('A')).toBe(2);
    expect(server.countOf('B')).toBe(1);
  });

  test('requests without tools do not count', async () => {
    await using server = await startModelServer();
    await messages(server, [says('A title for this')], { tools: [] });
    expect(server.received()).toEqual([]);
    expect(server.requests()[0]?.request?.side).toBe('no tools offered');
  });
});

describe('waiting', () => {
  test('a hold keeps the model silent until it is released', async () => {
    await using server = await startModelServer({
      script: {
        otherwise: [
          { do: 'hold', name: 'gate' },
          { do: 'say', text: 'through' },
        ],
      },
    });
    const reply = await messages(server, [says('go')]);
    await server.reached('gate');
    server.release('gate');
    expect(await reply.text()).toContain('through');
  });

  test('thinking takes the time of the clock', async () => {
    const clock = new VirtualClock();
    await using server = await startModelServer({
      clock,
      script: {
        otherwise: [
          { do: 'think', ms: 5_000 },
          { do: 'say', text: 'thought' },
        ],
      },
    });
    const reply = await messages(server, [says('go')]);
    clock.advance(5_000);
    expect(await reply.text()).toContain('thought');
  });
});

describe('bad input', () => {
  test('a wrong script is refused with its place', async () => {
    const script = JSON.parse('{"rules":[{"when":{"equals":"a","includes":"b"},"steps":[]}]}');
    const failure = await startModelServer({ script }).catch((error: unknown) => error);
    expect(isCoded(failure, 'MODEL_SCRIPT_INVALID')).toBe(true);
    expect(String(failure)).toContain('rules[0]');
  });

  test('a body that is no JSON is refused, the server lives on', async () => {
    await using server = await startModelServer();
    const bad = await fetch(`${server.url}/v1/messages`, { method: 'POST', body: '{' });
    expect(bad.status).toBe(400);
    expect((await messages(server, [says('hi')])).status).toBe(200);
  });

  test('an unknown path is a 404 and is logged', async () => {
    await using server = await startModelServer();
    expect((await fetch(`${server.url}/api/nothing`)).status).toBe(404);
    expect(server.requests().map((entry) => entry.path)).toEqual(['/api/nothing']);
  });
});
