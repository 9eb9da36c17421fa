/** One connection that carries frames of JSON text, whatever it is made of. */
export interface ClientTransport {
  /** Sends one frame; does nothing once the connection has ended. */
  send(text: string): void;
  /** Ends the connection; `closed` follows. Idempotent. */
  close(): void;
}

/** What a transport tells. Nothing follows behind `closed`, which comes once. */
export interface ClientTransportSink {
  frame(text: string): void;
  closed(reason: string): void;
}

export interface ConnectOptions {
  /** A larger frame ends the connection. */
  readonly maxIncomingFrameBytes: number;
}

/** Opens a connection; called again for each attempt. Rejects where there is nobody, or at `signal`. */
export type Connector = (
  sink: ClientTransportSink,
  options: ConnectOptions,
  signal: AbortSignal,
) => Promise<ClientTransport>;
