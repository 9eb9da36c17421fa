import { type ConnectClientOptions, connectClient, type OstlerClient } from '../client.js';
import { type WebSocketConstructor, webSocketConnector } from '../web-socket.js';
import { defaultClientLimits } from '../limits.js';
import { socketPathOf, unixConnector } from './unix-connector.js';

type Others = Omit<ConnectClientOptions, 'connector'>;

export interface ConnectLocalOptions extends Others {
  /** The daemon's state directory, an absolute path. */
  readonly stateDir: string;
}

/**
 * The daemon of a state directory, as the machine's own user, or as the device whose `token` is
 * given. Throws ClientError CONNECT_FAILED where none serves.
 */
export function connectLocal(
  { stateDir, ...options }: ConnectLocalOptions,
  signal?: AbortSignal,
): Promise<OstlerClient> {
  const connector = unixConnector(() => socketPathOf(stateDir));
  return connectClient({ ...options, connector }, signal);
}

export interface ConnectRemoteOptions extends Others {
  /** `wss://`, or `ws://` for this machine. */
  readonly url: string;
  /** The device's secret; it goes in a header, never in the address. */
  readonly token: string;
}

/** A daemon over WebSocket. */
export async function connectRemote(
  { token, url, ...options }: ConnectRemoteOptions,
  signal?: AbortSignal,
): Promise<OstlerClient> {
  const { maxIncomingFrameBytes } = { ...defaultClientLimits, ...options.limits };
  const { WebSocket } = await import('ws');
  class WithToken extends WebSocket {
    constructor(address: string) {
      super(address, {
        headers: { authorization: `Bearer ${token}` },
        maxPayload: maxIncomingFrameBytes,
        perMessageDeflate: false,
        followRedirects: false,
      });
    }
  }
  const connector = webSocketConnector({
    url,
    WebSocket: WithToken as unknown as WebSocketConstructor,
  });
  return connectClient({ ...options, connector }, signal);
}
