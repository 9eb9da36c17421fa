/** What every request carries. */
export interface RequestBase {
  /** A UUIDv4; its answer carries it too. */
  readonly requestId: string;
}

/** A request about one agent. */
export interface Targeted extends RequestBase {
  readonly machineId: string;
  readonly agentId: string;
}
