import type { EngineEvent } from '@ostler/engines';
import type { InputEvent } from './machine-types.js';

export interface EngineInputContext {
  readonly fingerprint: (text: string) => string;
  readonly nowMs: number;
  /** The delivery that an earlier process has seen to be the consumed input. */
  readonly creditedTo?: string | undefined;
}

/** What an engine's word means to the input machine; null where it means nothing to it. */
export function inputEventOf(event: EngineEvent, context: EngineInputContext): InputEvent | null {
  const { creditedTo, fingerprint, nowMs } = context;
  switch (event.kind) {
    case 'input_accepted':
    case 'input_consumed': {
      const { atMs, evidence, inputRef, text } = event;
      const isConsumed = event.kind === 'input_consumed';
      const seen = {
        kind: isConsumed ? 'consumed' : 'accepted',
        fingerprint: fingerprint(text),
        evidence,
        inputRef,
        turnRef: isConsumed ? event.turnRef : null,
        atMs,
        ...(creditedTo === undefined ? {} : { deliveryId: creditedTo }),
      } as const;
      return { type: 'EVIDENCE', seen, nowMs };
    }
    case 'input_withdrawn': {
      const { atMs, text } = event;
      return { type: 'WITHDRAWN', fingerprint: text === null ? null : fingerprint(text), atMs };
    }
    case 'turn_started':
      return { type: 'TURN_STARTED', nowMs };
    case 'turn_ended':
      return { type: 'TURN_ENDED', end: event, nowMs };
    case 'inputs_untied':
      return { type: 'UNTIED', inputRefs: event.inputRefs };
    case 'turn_text':
    case 'turn_tool':
    case 'record_rotated':
    case 'signals_changed':
      return null;
  }
}
