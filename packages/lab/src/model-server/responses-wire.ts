import { z } from 'zod';
import type { AnswerWriter, ModelRequest, ToolCall } from './model-request.js';
import { type ResponsesItem, readResponsesInputs } from './responses-inputs.js';

const part = z.looseObject({ type: z.string().default(''), text: z.string().optional() });
const item = z.looseObject({
  type: z.string().default('message'),
  role: z.string().optional(),
  content: z.union([z.string(), z.array(part), z.null()]).optional(),
  call_id: z.string().optional(),
});

const requestSchema = z.looseObject({
  model: z.string().default(''),
  stream: z.boolean().default(false),
  input: z.union([z.string(), z.array(item)]).default([]),
  instructions: z.string().nullish(),
  tools: z
    .array(z.looseObject({ type: z.string().default(''), name: z.string().optional() }))
    .default([]),
  prompt_cache_key: z.string().nullish(),
});

/** Reads a Responses request; null when it isn't one. */
export function readResponsesRequest(
  body: unknown,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ModelRequest | null {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return null;
  const { data } = parsed;
  const items: ResponsesItem[] =
    typeof data.input === 'string'
      ? [{ type: 'message', role: 'user', content: data.input }]
      : data.input;
  const { inputs, answeredCallIds } = readResponsesInputs(items);
  const header = headers['session-id'] ?? headers['session_id'];
  return {
    wire: 'responses',
    session: typeof header === 'string' ? header : (data.prompt_cache_key ?? 'unnamed'),
    side: sideReason(headers['x-codex-turn-metadata'], data.tools.length),
    inputs,
    answeredCallIds,
    tools: data.tools.map((tool) => tool.name ?? tool.type),
    model: data.model,
    stream: data.stream,
  };
}

const turnMetadata = z.looseObject({
  request_kind: z.string().default('turn'),
  thread_source: z.string().default('user'),
});

/** Codex 0.156.1 and 0.169.0 say in a header what a request is for; title threads offer no tools. */
function sideReason(header: string | string[] | undefined, tools: number): string | null {
  if (typeof header === 'string') {
    const metadata = turnMetadata.parse(JSON.parse(header));
    if (metadata.thread_source !== 'user') return metadata.thread_source;
    if (metadata.request_kind !== 'turn') return metadata.request_kind;
  }
  return tools < 2 ? 'no tools offered' : null;
}

/** Streams an answer as Responses events. */
export function responsesStreamWriter(
  emit: (event: string, data: unknown) => void,
  options: { model: string; responseId: string },
): AnswerWriter {
  const output: Record<string, unknown>[] = [];
  let sequence = 0;
  let open: { id: string; text: string } | null = null;
  const send = (type: string, fields: Record<string, unknown>): void => {
    emit(type, { type, sequence_number: sequence, ...fields });
    sequence += 1;
  };
  const response = (status: string): Record<string, unknown> => ({
    id: options.responseId,
    object: 'response',
    created_at: 0,
    model: options.model,
    status,
    output,
  });
  const message = (
    entry: { id: string; text: string },
    status: string,
  ): Record<string, unknown> => ({
    id: entry.id,
    type: 'message',
    role: 'assistant',
    status,
    content: [{ type: 'output_text', text: entry.text, annotations: [] }],
  });
  const closeText = (): void => {
    if (!open) return;
    const entry = message(open, 'completed');
    send('response.output_item.done', { output_index: output.length, item: entry });
    output.push(entry);
    open = null;
  };
  return {
    begin() {
      send('response.created', { response: response('in_progress') });
    },
    text(delta) {
      if (!open) {
        open = { id: `${options.responseId}_m${output.length}`, text: '' };
        const entry = { ...message(open, 'in_progress'), content: [] };
        send('response.output_item.added', { output_index: output.length, item: entry });
      }
      open.text += delta;
      const fields = { item_id: open.id, output_index: output.length, content_index: 0, delta };
      send('response.output_text.delta', fields);
    },
    call(call: ToolCall) {
      closeText();
      const entry =
        call.freeform === undefined
          ? {
              id: `fc_${call.id}`,
              type: 'function_call',
              call_id: call.id,
              ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
              name: call.name,
              arguments: JSON.stringify(call.input),
              status: 'completed',
            }
          : {
              id: `ctc_${call.id}`,
              type: 'custom_tool_call',
              call_id: call.id,
              name: call.name,
              input: call.freeform,
              status: 'completed',
            };
      send('response.output_item.added', { output_index: output.length, item: entry });
      send('response.output_item.done', { output_index: output.length, item: entry });
      output.push(entry);
    },
    end() {
      closeText();
      const usage = {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 120,
      };
      send('response.completed', { response: { ...response('completed'), usage } });
    },
    error(text) {
      const error = { code: 'server_error', message: text };
      send('response.failed', { response: { ...response('failed'), error } });
    },
  };
}
