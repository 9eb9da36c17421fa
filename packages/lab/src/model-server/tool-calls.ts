import type { ModelRequest, ToolCall } from './model-request.js';
import type { ModelQuestion, ModelStep } from './script.js';

type ToolStep = Extract<ModelStep, { do: 'shell' | 'write' | 'ask' | 'tool' }>;

/** Says a script's tool step in the terms of the wire and of the tools it offers. */
export function toolCallFor(step: ToolStep, id: string, request: ModelRequest): ToolCall {
  if (step.do === 'tool') {
    const { input, name, namespace } = step;
    return { id, name, input, ...(namespace === undefined ? {} : { namespace }) };
  }
  return request.wire === 'messages' ? messagesCall(step, id) : responsesCall(step, id, request);
}

type KnownStep = Exclude<ToolStep, { do: 'tool' }>;

function messagesCall(step: KnownStep, id: string): ToolCall {
  switch (step.do) {
    case 'shell': {
      const input = { command: step.command, description: 'A scripted command', timeout: 120_000 };
      return { id, name: 'Bash', input };
    }
    case 'write':
      return { id, name: 'Write', input: { file_path: step.path, content: step.content } };
    case 'ask':
      return { id, name: 'AskUserQuestion', input: { questions: step.questions } };
  }
}

function responsesCall(step: KnownStep, id: string, request: ModelRequest): ToolCall {
  switch (step.do) {
    case 'shell':
      return responsesShell(step, id, request.tools);
    case 'write':
      return responsesWrite(step, id, request.tools);
    case 'ask':
      return {
        id,
        name: 'request_user_input',
        input: { questions: step.questions.map(codexQuestion) },
      };
  }
}

function responsesShell(
  step: Extract<KnownStep, { do: 'shell' }>,
  id: string,
  tools: readonly string[],
): ToolCall {
  const asked = step.ask
    ? { sandbox_permissions: 'require_escalated', justification: 'A scripted request' }
    : {};
  if (tools.includes('exec_command')) {
    const input = { cmd: step.command, yield_time_ms: step.yieldMs, ...asked };
    return { id, name: 'exec_command', input };
  }
  if (tools.includes('shell_command')) {
    return { id, name: 'shell_command', input: { command: step.command, ...asked } };
  }
  return { id, name: 'shell', input: { command: ['bash', '-lc', step.command], ...asked } };
}

function responsesWrite(
  step: Extract<KnownStep, { do: 'write' }>,
  id: string,
  tools: readonly string[],
): ToolCall {
  const lines = step.content.split('\n').map((line) => `+${line}`);
  const file = `*** Add File: ${step.path}`;
  const patch = ['*** Begin Patch', file, ...lines, '*** End Patch'].join('\n');
  if (tools.includes('apply_patch')) return { id, name: 'apply_patch', input: {}, freeform: patch };
  // Where the model has no patch tool, the engine knows the command as one.
  const cmd = `apply_patch <<'PATCH'\n${patch}\nPATCH`;
  return { id, name: 'exec_command', input: { cmd, yield_time_ms: 10_000 } };
}

function codexQuestion(question: ModelQuestion, index: number): Record<string, unknown> {
  return {
    id: `question_${index + 1}`,
    header: question.header,
    question: question.question,
    options: question.options,
  };
}
