import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  createFrameSplitter,
  eventSchema,
  frameOf,
  inputStatusCapability,
  type Operation,
  type OstlerEvent,
  protocolVersion,
  type RequestOf,
  type ResultOf,
  type ResyncFrame,
  resyncSchema,
  resultSchemas,
  type TerminalFrame,
  terminalFrameSchema,
} from '@ostler/protocol';
import { CodedError, Emitter, randomIds, systemClock } from '@ostler/runtime';

const connectWithinMs = 5_000;
const answerWithinMs = 30_000;
/** Requests are far smaller; an answer may list many receipts, or paint a whole screen. */
const maxAnswerBytes: number = 16 * 1024 * 1024;

type Fields<Name extends Operation> = Omit<RequestOf<Name>, 'type' | 'requestId'>;

interface Pending {
  answer(message: Readonly<Record<string, unknown>>): void;
  fail(failure: Error): void;
}

export interface ConnectOptions {
  /** Events after this one come again. */
  readonly resume?: { readonly serverInstanceId: string; readonly cursor: number };
  /** Called before the hello, so that nothing that follows it is missed. */
  readonly prepare?: (client: DaemonClient) => void;
}

interface Pushed {
  readonly event: OstlerEvent;
  readonly resync: ResyncFrame;
  readonly terminal: TerminalFrame;
  readonly closed: undefined;
}

/** The daemon of a state directory, over its Unix socket, as the machine's own user. */
export class DaemonClient implements AsyncDisposable {
  readonly pushed: Emitter<Pushed> = new Emitter();
  readonly #socket: Socket;
  readonly #pending = new Map<string, Pending>();
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const splitter = createFrameSplitter({ maxFrameBytes: maxAnswerBytes });
    socket.on('data', (chunk: Buffer) => {
      for (const frame of splitter.push(chunk)) {
        if (frame.kind === 'frame') this.#take(frame.text);
        else socket.destroy();
      }
    });
    // The reason follows as the end of the connection.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#end());
  }

  /** Throws CodedError DAEMON_NOT_RUNNING, TIMEOUT. */
  static async connect(
    stateDir: string,
    { prepare, resume }: ConnectOptions = {},
  ): Promise<DaemonClient> {
    const socket = await open(socketPathOf(stateDir), stateDir);
    const client = new DaemonClient(socket);
    try {
      prepare?.(client);
      await client.call(
        'hello',
        {
          proto: protocolVersion,
          capabilities: [inputStatusCapability],
          ...(resume && { resume }),
        },
        connectWithinMs,
      );
      return client;
    } catch (failure) {
      await client[Symbol.asyncDispose]();
      throw failure;
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Throws CodedError with the daemon's own code where it refuses; DAEMON_GONE where the
   * connection ends first, TIMEOUT where no answer comes: then it may have been carried out.
   */
  async call<Name extends Operation>(
    type: Name,
    fields: Fields<Name>,
    withinMs: number = answerWithinMs,
  ): Promise<ResultOf<Name>> {
    if (this.#closed) throw gone();
    const requestId = randomIds.uuid();
    const answer = await new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      const timer = systemClock.setTimer(withinMs, () =>
        end(() => reject(new CodedError('TIMEOUT', `no answer to ${type} within ${withinMs} ms`))),
      );
      const end = (settle: () => void): void => {
        timer[Symbol.dispose]();
        this.#pending.delete(requestId);
        settle();
      };
      this.#pending.set(requestId, {
        answer: (message) => end(() => resolve(message)),
        fail: (failure) => end(() => reject(failure)),
      });
      this.#socket.write(frameOf({ type, requestId, ...fields }));
    });
    const { error } = answer;
    if (typeof error === 'object' && error !== null) throw refusal(error);
    const parsed = resultSchemas[type].safeParse(answer);
    if (parsed.success) return parsed.data as ResultOf<Name>;
    throw new CodedError('ANSWER_UNREADABLE', `the daemon's answer to ${type} can't be read`);
  }

  /** Reads nothing more until `resumed` calls back: the daemon then repaints what was missed. */
  pauseUntil(resumed: (resume: () => void) => void): void {
    this.#socket.pause();
    resumed(() => this.#socket.resume());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    this.#end();
    return Promise.resolve();
  }

  #take(text: string): void {
    let message: Readonly<Record<string, unknown>>;
    try {
      message = JSON.parse(text) as typeof message;
    } catch {
      this.#socket.destroy();
      return;
    }
    const { requestId, type } = message;
    if (type === 'event') {
      const event = eventSchema.safeParse(message);
      if (event.success) this.pushed.emit('event', event.data);
    } else if (type === 'resync') {
      const frame = resyncSchema.safeParse(message);
      if (frame.success) this.pushed.emit('resync', frame.data);
    } else if (type === 'terminal') {
      const frame = terminalFrameSchema.safeParse(message);
      if (frame.success) this.pushed.emit('terminal', frame.data);
    } else if (typeof requestId === 'string') {
      this.#pending.get(requestId)?.answer(message);
    }
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const pending of [...this.#pending.values()]) pending.fail(gone());
    this.pushed.emit('closed', undefined);
  }
}

/** The socket's own path, or the one that its note names where the directory is too deep. */
export function socketPathOf(stateDir: string): string {
  const plain = join(stateDir, 'ostler.sock');
  try {
    return readFileSync(`${plain}.path`, 'utf8').trim();
  } catch {
    // There is no note: the plain path is the one.
    return plain;
  }
}

async function open(path: string, stateDir: string): Promise<Socket> {
  return await new Promise<Socket>((resolve, reject) => {
    const socket = connect(path);
    const timer = systemClock.setTimer(connectWithinMs, () => {
      socket.destroy();
      reject(new CodedError('TIMEOUT', `the daemon of ${stateDir} takes no connection`));
    });
    socket.once('connect', () => {
      timer[Symbol.dispose]();
      resolve(socket);
    });
    socket.once('error', (cause) => {
      timer[Symbol.dispose]();
      reject(
        new CodedError(
          'DAEMON_NOT_RUNNING',
          `no daemon runs on ${stateDir}; start one with: ostler up --state-dir ${stateDir}`,
          { cause },
        ),
      );
    });
  });
}

function gone(): CodedError {
  return new CodedError('DAEMON_GONE', 'the daemon ended; start it again with: ostler up');
}

function refusal(error: object): CodedError {
  const { code, detail, message } = error as Readonly<Record<string, unknown>>;
  const shown = typeof detail === 'string' ? detail : code;
  return new CodedError(String(shown), String(message ?? 'the daemon refused the request'));
}
