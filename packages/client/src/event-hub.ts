import {
  type EventKind,
  type EventPayloads,
  eventPayloadSchemas,
  eventSchema,
  type OstlerEvent,
  type ResultOf,
  type ResyncFrame,
  resyncSchema,
  type StreamFrame,
  streamFrameSchema,
  type TerminalFrame,
  terminalFrameSchema,
} from '@ostler/protocol';
import { Emitter } from '@ostler/runtime';
import { BoundedStream } from './bounded-stream.js';
import { ClientError } from './client-error.js';

/** An event whose payload was checked. */
export type EventOf<Kind extends EventKind> = Kind extends EventKind
  ? Omit<OstlerEvent, 'kind' | 'payload'> & {
      readonly kind: Kind;
      readonly payload: EventPayloads[Kind];
    }
  : never;

export type ClientEvent = EventOf<EventKind>;

/** What is said of the connection itself. */
export type ConnectionNews =
  | { readonly state: 'connected'; readonly hello: ResultOf<'hello'> }
  | { readonly state: 'lost'; readonly reason: string }
  /** Last. Null where this client was closed by its user. */
  | { readonly state: 'ended'; readonly error: ClientError | null };

/** An event this client can't read: a newer server's kind, or a payload that breaks the protocol. */
export interface UnreadableEvent {
  readonly eventId: number;
  readonly kind: string;
  readonly isKnownKind: boolean;
}

export type ClientListeners = { readonly [Kind in EventKind]: EventOf<Kind> } & {
  /** Every event whose envelope can be read, its payload unchecked. */
  readonly event: OstlerEvent;
  /** Events between the last one and now are lost: ask for what matters. */
  readonly resync: ResyncFrame;
  readonly stream: StreamFrame;
  readonly connection: ConnectionNews;
  readonly unreadable: UnreadableEvent;
};

export interface EventFilter {
  readonly kinds?: readonly EventKind[];
  readonly agentId?: string;
}

/** Tells frames to listeners and iterators, in their order. */
export class EventHub {
  readonly #emitter = new Emitter<ClientListeners>();
  readonly #terminals = new Emitter<{ readonly terminal: TerminalFrame }>();
  readonly #readers = new Set<{
    readonly filter: EventFilter;
    readonly stream: BoundedStream<ClientEvent | ResyncFrame>;
  }>();
  #end: { readonly error: ClientError | null } | null = null;

  /** A listener that throws stops nobody else; its error is thrown outside, where it is seen. */
  on<Name extends keyof ClientListeners & string>(
    name: Name,
    listener: (value: ClientListeners[Name]) => void,
  ): Disposable {
    return this.#emitter.on(name, (value) => {
      try {
        listener(value);
      } catch (failure) {
        queueMicrotask(() => {
          throw failure;
        });
      }
    });
  }

  onTerminal(listener: (frame: TerminalFrame) => void): Disposable {
    return this.#terminals.on('terminal', listener);
  }

  events(filter: EventFilter, maxBufferedEvents: number): BoundedStream<ClientEvent | ResyncFrame> {
    const stream = new BoundedStream<ClientEvent | ResyncFrame>({
      maxSize: maxBufferedEvents,
      overflow: () =>
        new ClientError(
          'EVENTS_OVERFLOW',
          'not_carried_out',
          `more than ${maxBufferedEvents} events waited for their reader; read faster, or ask for fewer kinds`,
        ),
      onEnd: () => this.#readers.delete(reader),
    });
    const reader = { filter, stream };
    this.#readers.add(reader);
    if (this.#end) stream.end(this.#end.error);
    return stream;
  }

  frame(frame: Readonly<Record<string, unknown>>): void {
    switch (frame['type']) {
      case 'event':
        this.#event(frame);
        break;
      case 'resync': {
        const parsed = resyncSchema.safeParse(frame);
        if (!parsed.success) break;
        this.#emitter.emit('resync', parsed.data);
        for (const { stream } of [...this.#readers]) stream.push(parsed.data);
        break;
      }
      case 'terminal': {
        const parsed = terminalFrameSchema.safeParse(frame);
        if (parsed.success) this.#terminals.emit('terminal', parsed.data);
        break;
      }
      case 'stream': {
        const parsed = streamFrameSchema.safeParse(frame);
        if (parsed.success) this.#emitter.emit('stream', parsed.data);
        break;
      }
      default:
      // A newer server's frame, which this client knows nothing of.
    }
  }

  news(news: ConnectionNews): void {
    this.#emitter.emit('connection', news);
    if (news.state !== 'ended') return;
    this.#end = { error: news.error };
    for (const { stream } of [...this.#readers]) stream.end(news.error);
  }

  #event(frame: Readonly<Record<string, unknown>>): void {
    const envelope = eventSchema.safeParse(frame);
    if (!envelope.success) {
      this.#unreadable(frame, false);
      return;
    }
    const event = envelope.data;
    this.#emitter.emit('event', event);
    const payload = eventPayloadSchemas[event.kind].safeParse(event.payload);
    if (!payload.success) {
      this.#unreadable(frame, true);
      return;
    }
    const checked = { ...event, payload: payload.data } as ClientEvent;
    this.#emitter.emit(event.kind, checked as never);
    for (const { filter, stream } of [...this.#readers]) {
      if (filter.kinds && !filter.kinds.includes(event.kind)) continue;
      if (filter.agentId !== undefined && filter.agentId !== event.agentId) continue;
      stream.push(checked);
    }
  }

  #unreadable({ eventId, kind }: Readonly<Record<string, unknown>>, isKnownKind: boolean): void {
    this.#emitter.emit('unreadable', {
      eventId: Number(eventId),
      kind: String(kind).slice(0, 64),
      isKnownKind,
    });
  }
}
