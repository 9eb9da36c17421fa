import type { ModelRequest, ToolCall } from './model-request.js';
import { type CheckedScript, type ModelRule, type ModelStep, ruleMatches } from './script.js';
import { toolCallFor } from './tool-calls.js';

const maxOpenCalls = 10_000;

export type ToolStep = Extract<ModelStep, { do: 'shell' | 'write' | 'ask' | 'tool' }>;

export function isToolStep(step: ModelStep): step is ToolStep {
  return step.do === 'shell' || step.do === 'write' || step.do === 'ask' || step.do === 'tool';
}

/**
 * Decides what the model does next. A tool call ends an answer; what the script has left
 * after it runs when the call's result comes back, before anything said meanwhile.
 */
export class ScriptProgram {
  readonly #script: CheckedScript;
  readonly #fired = new Map<ModelRule, number>();
  readonly #leftAfterCall = new Map<string, readonly ModelStep[]>();
  #calls = 0;

  constructor(script: CheckedScript) {
    this.#script = script;
  }

  /** All steps due for this request; the answer goes as far as the first tool call. */
  stepsFor(request: ModelRequest): readonly ModelStep[] {
    const steps: ModelStep[] = [];
    for (const id of request.answeredCallIds) steps.push(...(this.#leftAfterCall.get(id) ?? []));
    for (const input of request.inputs) {
      if (input.fresh) steps.push(...this.#stepsForText(input.text));
    }
    if (steps.length > 0) return steps;
    return request.answeredCallIds.length > 0
      ? [{ do: 'say', text: 'Done.', chunkDelayMs: 0 }]
      : this.#script.otherwise;
  }

  /** The call for a tool step, remembering what comes after its result. */
  call(step: ToolStep, rest: readonly ModelStep[], request: ModelRequest): ToolCall {
    this.#calls += 1;
    const id = `${request.wire === 'messages' ? 'toolu' : 'call'}_scripted${this.#calls}`;
    this.#leftAfterCall.set(id, rest);
    const oldest = this.#leftAfterCall.keys().next();
    if (this.#leftAfterCall.size > maxOpenCalls && !oldest.done) {
      this.#leftAfterCall.delete(oldest.value);
    }
    return toolCallFor(step, id, request);
  }

  #stepsForText(text: string): readonly ModelStep[] {
    for (const rule of this.#script.rules) {
      const fired = this.#fired.get(rule) ?? 0;
      if (fired >= (rule.times ?? Number.POSITIVE_INFINITY) || !ruleMatches(rule, text)) continue;
      this.#fired.set(rule, fired + 1);
      return rule.steps;
    }
    return this.#script.otherwise;
  }
}
