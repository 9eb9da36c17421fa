/** One peer, whatever carries its frames. */
export interface Transport {
  readonly kind: 'unix' | 'websocket';
  /** Where it comes from, for the log and the token guard. */
  readonly address: string;
  /** The secret the transport brought itself, or null. */
  readonly bearer: string | null;
  /** Frames handed over that the peer has not taken yet. */
  readonly unsentBytes: number;
  /** Sends one frame of JSON text. */
  send(text: string): void;
  /** Calls back once the peer has taken everything; at most one call waits. */
  whenDrained(callback: () => void): void;
  /** Ends the connection behind what was sent, or at once where the peer takes nothing. */
  close(reason: string): void;
}

/** What a listener tells of one peer. */
export interface TransportSink {
  frame(text: string): void;
  /** The stream can't be followed any further. */
  broken(reason: 'too_large' | 'not_utf8'): void;
  closed(): void;
}

/** Takes a new peer, or refuses it with null. */
export type Accept = (transport: Transport) => TransportSink | null;

export interface Listener extends AsyncDisposable {
  /** What a client connects to. */
  readonly address: string;
  /** Takes nobody new; those connected stay. */
  stop(): void;
}
