import type { PromptInput } from './model-request.js';

export interface ResponsesItem {
  readonly type: string;
  readonly role?: string | undefined;
  readonly content?: string | readonly { readonly text?: string | undefined }[] | null | undefined;
  readonly call_id?: string | undefined;
}

/** The people's inputs of a Responses conversation, in order, and the tool results at its end. */
export function readResponsesInputs(items: readonly ResponsesItem[]): {
  inputs: PromptInput[];
  answeredCallIds: string[];
} {
  const lastAnswer = items.findLastIndex(isModelOutput);
  const inputs: PromptInput[] = [];
  const answeredCallIds: string[] = [];
  for (const [position, item] of items.entries()) {
    const fresh = position > lastAnswer;
    if (item.type.endsWith('_call_output') && fresh && item.call_id !== undefined) {
      answeredCallIds.push(item.call_id);
    }
    if (item.type !== 'message' || item.role !== 'user') continue;
    const raw = partsOf(item);
    const text = raw.filter((part) => !isContext(part)).join('\n');
    if (raw.some((part) => !isContext(part))) inputs.push({ text, raw, fresh });
  }
  return { inputs, answeredCallIds };
}

function isModelOutput(item: ResponsesItem): boolean {
  if (item.type === 'message') return item.role === 'assistant';
  return item.type.endsWith('_call') || item.type === 'reasoning';
}

function partsOf(item: ResponsesItem): string[] {
  if (typeof item.content === 'string') return [item.content];
  return (item.content ?? []).flatMap((part) => (part.text === undefined ? [] : [part.text]));
}

const contextTags = [
  'environment_context',
  'user_instructions',
  'turn_aborted',
  'user_shell_command',
  'skill',
  'hook_prompt',
  'subagent_notification',
  'model_switch',
];

/** Texts the engine adds under the user's role; codex 0.169.0. */
function isContext(part: string): boolean {
  const text = part.trim();
  if (text.startsWith('# AGENTS.md instructions for ') && text.includes('<INSTRUCTIONS>'))
    return true;
  return contextTags.some((tag) => text.startsWith(`<${tag}>`) && text.endsWith(`</${tag}>`));
}
