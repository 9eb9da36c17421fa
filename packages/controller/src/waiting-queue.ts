import type { ControllerLimits } from './limits.js';

export interface WaitingInput {
  readonly deliveryId: string;
  readonly fingerprint: string;
  /** UTF-8 bytes of the text. */
  readonly bytes: number;
}

/** True when `input` may join the queue without passing either limit. */
export function fits(
  queue: readonly WaitingInput[],
  input: WaitingInput,
  limits: Pick<ControllerLimits, 'maxWaitingItems' | 'maxWaitingBytes'>,
): boolean {
  const bytes = queue.reduce((sum, waiting) => sum + waiting.bytes, input.bytes);
  return queue.length < limits.maxWaitingItems && bytes <= limits.maxWaitingBytes;
}
