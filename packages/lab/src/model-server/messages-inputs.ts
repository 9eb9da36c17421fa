import type { PromptInput } from './model-request.js';

export interface MessagesBlock {
  readonly type: string;
  readonly text?: string | undefined;
  readonly tool_use_id?: string | undefined;
}

export interface MessagesMessage {
  readonly role: string;
  readonly content: string | readonly MessagesBlock[];
}

/** The people's inputs of a Messages conversation, in order, and the tool results at its end. */
export function readMessagesInputs(messages: readonly MessagesMessage[]): {
  inputs: PromptInput[];
  answeredCallIds: string[];
} {
  const lastAnswer = messages.findLastIndex((message) => message.role === 'assistant');
  const inputs: PromptInput[] = [];
  const answeredCallIds: string[] = [];
  for (const [position, message] of messages.entries()) {
    if (message.role !== 'user') continue;
    const fresh = position > lastAnswer;
    for (const block of blocksOf(message.content)) {
      if (block.type === 'tool_result' && fresh && block.tool_use_id !== undefined) {
        answeredCallIds.push(block.tool_use_id);
      }
      if (block.type !== 'text' || block.text === undefined) continue;
      const text = personText(block.text);
      if (text !== null) inputs.push({ text, raw: [block.text], fresh });
    }
  }
  return { inputs, answeredCallIds };
}

function blocksOf(content: string | readonly MessagesBlock[]): readonly MessagesBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

const midTurnOpening = 'The user sent a new message while you were working:\n';
const midTurnClosing =
  /\n\nThis is how Claude Code surfaces messages the user sends mid-turn[^\n]*\n?$/;
const engineNudges = [
  '[Your previous response had no visible output.',
  '[Request interrupted by user',
];
const pastedWrapper =
  /^\s*<pasted_content id="([^"]+)">\n([\s\S]*)\n<\/pasted_content id="\1">\s*$/;

/** What a person said in a text block, or null for what the engine adds by itself. */
export function personText(block: string): string | null {
  let text = block;
  const reminder = /^\s*<system-reminder>\n?([\s\S]*?)\n?<\/system-reminder>\s*$/.exec(text);
  if (reminder?.[1]?.startsWith(midTurnOpening)) text = reminder[1];
  else if (text.trimStart().startsWith('<system-reminder>')) return null;
  if (text.startsWith(midTurnOpening) && midTurnClosing.test(text)) {
    text = text.slice(midTurnOpening.length).replace(midTurnClosing, '');
  }
  const unwrapped = pastedWrapper.exec(text)?.[2] ?? text;
  // Neighbouring blocks get a line end that nobody typed; a prompt's own end is always trimmed.
  const said = unwrapped.replace(/\n+$/, '');
  return engineNudges.some((nudge) => said.startsWith(nudge)) ? null : said;
}
