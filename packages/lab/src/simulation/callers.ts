import type { QuestionAnswerRequest, TurnSendRequest, TurnStopRequest } from '@ostler/protocol';
import { type Ids, isCoded } from '@ostler/runtime';
import { type AgentSession, questionAnswer, turnSend, turnStop } from '@ostler/service';
import { callerDevice, type SimDaemon } from './daemon.js';
import type { PlannedDo } from './plan.js';
import type { Watch } from './watch.js';

type Request = TurnSendRequest | TurnStopRequest | QuestionAnswerRequest;
type Planned<Do extends PlannedDo['do']> = Extract<PlannedDo, { do: Do }>;

interface Asked {
  readonly session: number;
  readonly request: Request;
}

interface CallersParts {
  readonly watch: Watch;
  readonly ids: Ids;
  readonly machineId: string;
  readonly daemon: () => SimDaemon;
}

/** Refusals a caller may get on a bad day. Any other is a fault of ours. */
const foreseen = [
  'AGENT_NOT_FOUND',
  'IDEMPOTENCY_CONFLICT',
  'BACKPRESSURE',
  'QUESTION_STALE',
  'STORE_FULL',
  'PROCESS_DEAD',
] as const;

/** Whoever sends requests, again after a lost reply as well, and remembers what was asked under which key. */
export class Callers {
  readonly #parts: CallersParts;
  readonly #asked = new Map<string, Asked>();
  readonly #texts = new Map<string, number>();
  /** The request under way. */
  asking: { readonly text: string; readonly session: number } | null = null;

  constructor(parts: CallersParts) {
    this.#parts = parts;
  }

  /** More than one request had this text: a record can't tell them apart. */
  isAmbiguous(text: string): boolean {
    return (this.#texts.get(text) ?? 0) > 1;
  }

  send(action: Planned<'send'>): void {
    const { key, text } = action;
    this.#texts.set(text, (this.#texts.get(text) ?? 0) + 1);
    const request = { type: 'turn.send', text } as const;
    this.#ask(key, this.#asked.get(key) ?? this.#remember(action, request));
  }

  stop(action: Planned<'stop'>): void {
    this.#ask(action.key, this.#remember(action, { type: 'turn.stop' }));
  }

  /** Answers the question that is open, or one of long ago. */
  answer(action: Planned<'answer'>, open: AgentSession['openQuestion']): void {
    const number = Number(/\d+$/u.exec(open?.question.fingerprint ?? '')?.[0] ?? -1);
    this.#parts.watch.sessions[action.session]?.answering.add(number);
    const prompt = open?.question.prompts[0]?.text ?? 'a question of long ago';
    const questionRequestId = open?.requestId ?? 'gone';
    const answers = { [prompt]: 'left' };
    const request = { type: 'question.answer', questionRequestId, answers } as const;
    this.#ask(action.key, this.#remember(action, request));
  }

  resend(key: string): void {
    const asked = this.#asked.get(key);
    if (asked) this.#ask(key, asked);
  }

  #remember(
    { session, key }: { readonly session: number; readonly key: string },
    request:
      | Pick<TurnSendRequest, 'type' | 'text'>
      | Pick<TurnStopRequest, 'type'>
      | Pick<QuestionAnswerRequest, 'type' | 'questionRequestId' | 'answers'>,
  ): Asked {
    const target = {
      requestId: this.#parts.ids.uuid(),
      machineId: this.#parts.machineId,
      agentId: this.#parts.watch.sessions[session]?.agentId ?? '',
      idempotencyKey: key,
    };
    const asked = { session, request: { ...request, ...target } };
    this.#asked.set(key, asked);
    return asked;
  }

  #ask(key: string, { request, session }: Asked, sameIntent = true): void {
    const { watch } = this.#parts;
    const { context, dead } = this.#parts.daemon();
    if (dead) return;
    const earlier = watch.deliveryOf(key) ?? null;
    this.asking = { text: request.type === 'turn.send' ? request.text : '', session };
    try {
      const reply = this.#mutate(request);
      const stored = context.ledger.get(callerDevice, key);
      watch.check('reply', { key, reply, stored, earlier, sameIntent });
    } catch (failure) {
      watch.note(() => `${key} is refused: ${isCoded(failure) ? failure.code : failure}`);
      if (!isCoded(failure, ...foreseen)) watch.fault(`${key}: ${failure}`);
    } finally {
      this.asking = null;
    }
  }

  #mutate(request: Request): ReturnType<typeof turnSend> {
    const { context } = this.#parts.daemon();
    switch (request.type) {
      case 'turn.send':
        return turnSend(context, request);
      case 'turn.stop':
        return turnStop(context, request);
      case 'question.answer':
        return questionAnswer(context, request);
    }
  }

  /** The key again, meaning something else. */
  askOtherwise(key: string): void {
    const asked = this.#asked.get(key);
    if (asked?.request.type !== 'turn.send' || !this.#parts.watch.deliveryOf(key)) return;
    const request = { ...asked.request, text: `${asked.request.text}, or not` };
    this.#ask(key, { ...asked, request }, false);
  }
}
