import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, CodedError, Emitter, systemClock } from '@ostler/runtime';
import { type AnswerChannel, answer } from './answer.js';
import { Holds } from './holds.js';
import { messagesBodyWriter, messagesStreamWriter, readMessagesRequest } from './messages-wire.js';
import type { AnswerWriter, ModelRequest } from './model-request.js';
import { ReceivedLedger, type ReceivedPrompt, type ReceivedText } from './received-ledger.js';
import { readBody } from './request-body.js';
import { readResponsesRequest, responsesStreamWriter } from './responses-wire.js';
import { checkScript, type ModelScript } from './script.js';
import { ScriptProgram } from './script-program.js';

const maxBodyBytes = 32 * 1024 * 1024;
const maxLoggedRequests = 2_000;

/** One request as the log keeps it. */
export interface LoggedRequest {
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  /** Null for anything but a model call. */
  readonly request: ModelRequest | null;
}

export interface ModelServerEvents {
  request: LoggedRequest;
  received: ReceivedPrompt;
}

export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; both wires live under `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly events: Emitter<ModelServerEvents>;
  /** Every distinct text a person submitted, with the number of separate times. */
  received(): readonly ReceivedText[];
  /** How often exactly this text was submitted. */
  countOf(text: string): number;
  /** Every submission in the order the model first saw it. */
  prompts(): readonly ReceivedPrompt[];
  /** The latest requests, oldest first. */
  requests(): readonly LoggedRequest[];
  /** Opens a named hold, for good. */
  release(name: string): void;
  rearm(name: string): void;
  /** Resolves when a request stands at the hold. */
  reached(name: string): Promise<void>;
  /** Replaces the script; answers under way keep theirs. */
  setScript(script: ModelScript): void;
  close(): Promise<void>;
}

/**
 * Starts a scripted model on loopback that speaks the Messages and the Responses wire.
 * Throws CodedError MODEL_SCRIPT_INVALID, MODEL_SERVER_LISTEN_FAILED.
 */
export async function startModelServer(
  options: { script?: ModelScript; port?: number; clock?: Clock } = {},
): Promise<ModelServer> {
  const server = new ScriptedServer(options.script ?? {}, options.clock ?? systemClock);
  await server.listen(options.port ?? 0);
  return server;
}

class ScriptedServer implements ModelServer {
  readonly events: Emitter<ModelServerEvents> = new Emitter();
  readonly #clock: Clock;
  readonly #holds = new Holds();
  readonly #ledger = new ReceivedLedger();
  readonly #log: LoggedRequest[] = [];
  readonly #server: Server;
  #program: ScriptProgram;
  #numbered = 0;

  constructor(script: ModelScript, clock: Clock) {
    this.#clock = clock;
    this.#program = new ScriptProgram(checkScript(script));
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((failure: unknown) => {
        const message = failure instanceof Error ? failure.message : String(failure);
        const status =
          failure instanceof CodedError && failure.code === 'BODY_TOO_LARGE' ? 413 : 400;
        if (response.headersSent) response.destroy();
        else
          sendJson(response, status, {
            type: 'error',
            error: { type: 'invalid_request_error', message },
          });
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) => {
        const message = `The model server can't listen on 127.0.0.1:${port}; choose port 0 or a free one, and check that loopback is up.`;
        reject(new CodedError('MODEL_SERVER_LISTEN_FAILED', message, { cause }));
      });
      this.#server.listen(port, '127.0.0.1', resolve);
    });
  }

  received(): readonly ReceivedText[] {
    return this.#ledger.received();
  }

  countOf(text: string): number {
    return this.received().find((entry) => entry.text === text)?.count ?? 0;
  }

  prompts(): readonly ReceivedPrompt[] {
    return this.#ledger.prompts();
  }

  requests(): readonly LoggedRequest[] {
    return [...this.#log];
  }

  release(name: string): void {
    this.#holds.release(name);
  }

  rearm(name: string): void {
    this.#holds.rearm(name);
  }

  reached(name: string): Promise<void> {
    return this.#holds.reached(name);
  }

  setScript(script: ModelScript): void {
    this.#program = new ScriptProgram(checkScript(script));
  }

  async close(): Promise<void> {
    this.#holds.releaseAll();
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #handle(http: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(http.url ?? '/', 'http://localhost').pathname;
    const body = http.method === 'POST' ? await readBody(http, maxBodyBytes) : null;
    const asked = this.#read(http, path, body);
    this.#numbered += 1;
    this.#record({
      number: this.#numbered,
      atMs: this.#clock.nowMs(),
      method: http.method ?? 'GET',
      path,
      headers: http.headers,
      body,
      request: asked,
    });
    if (asked) await this.#answer(asked, response, this.#numbered);
    else this.#answerOther(http.method ?? 'GET', path, response);
  }

  #read(http: IncomingMessage, path: string, body: unknown): ModelRequest | null {
    if (path === '/v1/messages') return readMessagesRequest(body, http.headers);
    if (path === '/v1/responses') return readResponsesRequest(body, http.headers);
    return null;
  }

  #record(entry: LoggedRequest): void {
    this.#log.push(entry);
    if (this.#log.length > maxLoggedRequests) this.#log.shift();
    this.events.emit('request', entry);
    if (!entry.request) return;
    for (const prompt of this.#ledger.take(entry.request, entry.number)) {
      this.events.emit('received', prompt);
    }
  }

  async #answer(asked: ModelRequest, response: ServerResponse, number: number): Promise<void> {
    const aborted = new AbortController();
    response.once('close', () => aborted.abort());
    const channel = channelFor(asked, response, number);
    if (asked.side !== null) {
      channel.open();
      channel.writer.begin();
      channel.writer.text('A scripted side answer');
      channel.writer.end();
    } else {
      const { signal } = aborted;
      const program = this.#program;
      await answer({
        request: asked,
        program,
        holds: this.#holds,
        clock: this.#clock,
        channel,
        signal,
      });
    }
  }

  #answerOther(method: string, path: string, response: ServerResponse): void {
    if (path === '/v1/messages/count_tokens') sendJson(response, 200, { input_tokens: 100 });
    else if (path === '/v1/models')
      sendJson(response, 200, { object: 'list', data: [], models: [], has_more: false });
    else if (method === 'HEAD') response.writeHead(200).end();
    else {
      const message = `The scripted model has no ${method} ${path}`;
      sendJson(response, 404, { type: 'error', error: { type: 'not_found_error', message } });
    }
  }
}

function channelFor(asked: ModelRequest, response: ServerResponse, number: number): AnswerChannel {
  const emit = (event: string, data: unknown): void => {
    if (!response.destroyed) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const { model } = asked;
  const streamed = asked.stream || asked.wire === 'responses';
  let inner: AnswerWriter;
  if (!streamed) {
    const finish = (body: unknown): void => sendJson(response, 200, body);
    inner = messagesBodyWriter(finish, { model, messageId: `msg_scripted${number}` });
  } else if (asked.wire === 'messages') {
    inner = messagesStreamWriter(emit, { model, messageId: `msg_scripted${number}` });
  } else {
    inner = responsesStreamWriter(emit, { model, responseId: `resp_scripted${number}` });
  }
  const ending = (write: () => void): void => {
    write();
    if (streamed) response.end();
  };
  return {
    writer: {
      begin: () => inner.begin(),
      text: (delta) => inner.text(delta),
      call: (call) => inner.call(call),
      end: () => ending(() => inner.end()),
      error: (message) => ending(() => inner.error(message)),
    },
    open() {
      if (streamed) response.writeHead(200, { 'content-type': 'text/event-stream' });
    },
    refuse(status, message) {
      sendJson(response, status, { type: 'error', error: { type: 'api_error', message } });
    },
    cut() {
      response.destroy();
    },
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
