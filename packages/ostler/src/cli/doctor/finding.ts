export interface Finding {
  readonly what: string;
  readonly level: 'ok' | 'note' | 'fault';
  readonly saw: string;
  /** What to do; where there is nothing to do it is left out. */
  readonly todo?: string;
}

export function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
