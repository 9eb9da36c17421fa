import { ClientError } from '../client-error.js';
import type { ClientTransport, ClientTransportSink, Connector } from '../transport.js';

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** One connection as the server sees it. */
export class ScriptedPeer {
  readonly received: Frame[] = [];
  readonly #sink: ClientTransportSink;
  readonly #onFrame: (peer: ScriptedPeer, frame: Frame) => void;
  isClosed = false;

  constructor(sink: ClientTransportSink, onFrame: (peer: ScriptedPeer, frame: Frame) => void) {
    this.#sink = sink;
    this.#onFrame = onFrame;
  }

  get transport(): ClientTransport {
    return {
      send: (text) => {
        if (this.isClosed) return;
        const frame = JSON.parse(text) as Frame;
        this.received.push(frame);
        this.#onFrame(this, frame);
      },
      close: () => this.drop('closed by this client'),
    };
  }

  send(frame: object): void {
    if (!this.isClosed) this.#sink.frame(JSON.stringify(frame));
  }

  sendText(text: string): void {
    this.#sink.frame(text);
  }

  answer(request: Frame, fields: object): void {
    this.send({ type: `${request.type}_result`, requestId: request['requestId'], ...fields });
  }

  drop(reason = 'dropped'): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#sink.closed(reason);
  }

  of(type: string): Frame[] {
    return this.received.filter((frame) => frame.type === type);
  }
}

/** A server in this process that does what a test's script says. Answers hello by itself. */
export class ScriptedServer {
  readonly peers: ScriptedPeer[] = [];
  machineId = 'machine-1';
  serverInstanceId = 'instance-1';
  cursor = 0;
  /** While true nobody can connect. */
  isDown = false;
  onHello: (peer: ScriptedPeer, hello: Frame) => void = (peer, hello) => this.welcome(peer, hello);
  onRequest: (peer: ScriptedPeer, request: Frame) => void = () => undefined;

  readonly connector: Connector = (sink) => {
    if (this.isDown) {
      return Promise.reject(new ClientError('CONNECT_FAILED', 'not_carried_out', 'it is down'));
    }
    const peer = new ScriptedPeer(sink, (from, frame) => {
      if (frame.type === 'hello') this.onHello(from, frame);
      else this.onRequest(from, frame);
    });
    this.peers.push(peer);
    return Promise.resolve(peer.transport);
  };

  get peer(): ScriptedPeer {
    const last = this.peers.at(-1);
    if (!last) throw new Error('nobody has connected');
    return last;
  }

  welcome(peer: ScriptedPeer, hello: Frame, fields: object = {}): void {
    const { cursor, machineId, serverInstanceId } = this;
    const capabilities = hello['capabilities'] ?? [];
    const resumed = hello['resume'] !== undefined;
    const welcome = { proto: 1, machineId, serverInstanceId, capabilities, resumed, cursor };
    peer.answer(hello, { ...welcome, ...fields });
  }

  event(eventId: number, kind = 'question.close', payload: object = { requestId: 'q' }): object {
    const { machineId, serverInstanceId } = this;
    return { type: 'event', eventId, serverInstanceId, machineId, agentId: 'a', kind, payload };
  }
}
