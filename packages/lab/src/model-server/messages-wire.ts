import { z } from 'zod';
import { readMessagesInputs } from './messages-inputs.js';
import type { AnswerWriter, ModelRequest, ToolCall } from './model-request.js';

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  tool_use_id: z.string().optional(),
});
const content = z.union([z.string(), z.array(block)]);
const message = z.looseObject({ role: z.string(), content });

const requestSchema = z.looseObject({
  model: z.string().default(''),
  stream: z.boolean().default(false),
  max_tokens: z.number().optional(),
  messages: z.array(message).default([]),
  system: content.optional(),
  tools: z.array(z.looseObject({ name: z.string().default('') })).default([]),
  metadata: z.looseObject({ user_id: z.string().optional() }).optional(),
});

/** Reads a Messages request; null when it isn't one. */
export function readMessagesRequest(
  body: unknown,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ModelRequest | null {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return null;
  const { inputs, answeredCallIds } = readMessagesInputs(parsed.data.messages);
  const header = headers['x-claude-code-session-id'];
  return {
    wire: 'messages',
    session: typeof header === 'string' ? header : (parsed.data.metadata?.user_id ?? 'unnamed'),
    side: sideReason(parsed.data.tools.length, parsed.data.max_tokens),
    inputs,
    answeredCallIds,
    tools: parsed.data.tools.map((tool) => tool.name),
    model: parsed.data.model,
    stream: parsed.data.stream,
  };
}

function sideReason(tools: number, maxTokens: number | undefined): string | null {
  if (maxTokens === 1) return 'probe';
  return tools < 2 ? 'no tools offered' : null;
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

/** Streams an answer as Messages events. */
export function messagesStreamWriter(
  emit: (event: string, data: unknown) => void,
  options: { model: string; messageId: string },
): AnswerWriter {
  let index = -1;
  let textOpen = false;
  let called = false;
  const closeText = (): void => {
    if (textOpen) emit('content_block_stop', { type: 'content_block_stop', index });
    textOpen = false;
  };
  return {
    begin() {
      const message = { ...emptyMessage(options), content: [], stop_reason: null };
      emit('message_start', { type: 'message_start', message });
    },
    text(delta) {
      if (!textOpen) {
        index += 1;
        textOpen = true;
        const content_block = { type: 'text', text: '' };
        emit('content_block_start', { type: 'content_block_start', index, content_block });
      }
      const part = { type: 'text_delta', text: delta };
      emit('content_block_delta', { type: 'content_block_delta', index, delta: part });
    },
    call(call: ToolCall) {
      closeText();
      called = true;
      index += 1;
      const content_block = { type: 'tool_use', id: call.id, name: call.name, input: {} };
      emit('content_block_start', { type: 'content_block_start', index, content_block });
      const part = { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
      emit('content_block_delta', { type: 'content_block_delta', index, delta: part });
      emit('content_block_stop', { type: 'content_block_stop', index });
    },
    end() {
      closeText();
      emit('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: called ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 20 },
      });
      emit('message_stop', { type: 'message_stop' });
    },
    error(message) {
      emit('error', { type: 'error', error: { type: 'api_error', message } });
    },
  };
}

/** Collects an answer into one Messages body, handed to `finish`. */
export function messagesBodyWriter(
  finish: (body: unknown) => void,
  options: { model: string; messageId: string },
): AnswerWriter {
  const blocks: Block[] = [];
  return {
    begin() {},
    text(delta) {
      const last = blocks.at(-1);
      if (last?.type === 'text') last.text += delta;
      else blocks.push({ type: 'text', text: delta });
    },
    call(call) {
      blocks.push({ type: 'tool_use', id: call.id, name: call.name, input: call.input });
    },
    end() {
      const called = blocks.some((entry) => entry.type === 'tool_use');
      finish({
        ...emptyMessage(options),
        content: blocks,
        stop_reason: called ? 'tool_use' : 'end_turn',
      });
    },
    error(message) {
      finish({ type: 'error', error: { type: 'api_error', message } });
    },
  };
}

function emptyMessage(options: { model: string; messageId: string }): Record<string, unknown> {
  return {
    id: options.messageId,
    type: 'message',
    role: 'assistant',
    model: options.model,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 1 },
  };
}
