import { maxTerminalFrameBytes, type ResultOf, type TerminalFrame } from '@ostler/protocol';
import { CodedError, Disposables, type Ids } from '@ostler/runtime';
import type { AgentSession } from '@ostler/service';
import type { DaemonLimits } from './limits.js';
import type { Outbox } from './outbox.js';

/** Whoever looks at terminals: where frames go, and how it tells that it has gone. */
export interface Viewer {
  readonly outbox: Outbox;
  readonly transport: { whenDrained(callback: () => void): void };
  readonly signal: AbortSignal;
}

interface ViewOptions {
  readonly readOnly: boolean;
  readonly size: { readonly cols: number; readonly rows: number } | null;
}

/** The open views of agents' terminals, over all connections. */
export class TerminalViews {
  readonly #limits: DaemonLimits;
  readonly #ids: Ids;
  readonly #views = new Map<string, TerminalView>();

  constructor(limits: DaemonLimits, ids: Ids) {
    this.#limits = limits;
    this.#ids = ids;
  }

  /** Throws CodedError BACKPRESSURE where there are as many views as there may be. */
  async open(
    viewer: Viewer,
    agent: AgentSession,
    options: ViewOptions,
  ): Promise<ResultOf<'agent.attach'>> {
    if (this.#views.size >= this.#limits.maxViews) {
      throw new CodedError('BACKPRESSURE', `${this.#limits.maxViews} views are open already`);
    }
    const { size } = options;
    if (size && !options.readOnly) agent.terminal.resize(size.cols, size.rows);
    const attachId = this.#ids.uuid();
    const view = new TerminalView(attachId, viewer, agent, options, this.#limits);
    this.#views.set(attachId, view);
    view.owned.defer(() => void this.#views.delete(attachId));
    const end = (): void => view[Symbol.dispose]();
    viewer.signal.addEventListener('abort', end, { once: true });
    view.owned.defer(() => viewer.signal.removeEventListener('abort', end));
    const paint = await view.start();
    const { cols, rows } = agent.terminal;
    return { attachId, cols, rows, paint };
  }

  /** Throws CodedError VIEW_NOT_FOUND where it isn't one of this viewer's. */
  of(outbox: Outbox, attachId: string): TerminalView {
    const view = this.#views.get(attachId);
    if (view?.outbox === outbox) return view;
    throw new CodedError('VIEW_NOT_FOUND', 'this connection has no such view; attach first');
  }
}

/** One viewer of one terminal. A viewer that falls behind gets the screen painted anew. */
export class TerminalView implements Disposable {
  readonly owned: Disposables = new Disposables();
  readonly #attachId: string;
  readonly #viewer: Viewer;
  readonly #agent: AgentSession;
  readonly #readOnly: boolean;
  readonly #pauseAtBytes: number;
  #size: string;
  #behind = false;
  #ended = false;
  /** Output that waits for the answer it belongs behind. */
  #late: Uint8Array[] | null = null;

  constructor(
    attachId: string,
    viewer: Viewer,
    agent: AgentSession,
    { readOnly }: ViewOptions,
    { pauseAtUnsentBytes }: DaemonLimits,
  ) {
    this.#attachId = attachId;
    this.#viewer = viewer;
    this.#agent = agent;
    this.#readOnly = readOnly;
    this.#pauseAtBytes = pauseAtUnsentBytes;
    this.#size = this.#sizeNow;
  }

  get outbox(): Outbox {
    return this.#viewer.outbox;
  }

  /**
   * The screen as it is, in base64, as far as a frame takes it; the rest, and what comes after
   * it, is sent as frames behind the answer.
   */
  async start(): Promise<string> {
    const { terminal } = this.#agent;
    const paint = await this.#paint();
    if (this.#ended) throw new CodedError('VIEW_NOT_FOUND', 'the view was closed');
    const late: Uint8Array[] = [paint.subarray(maxTerminalFrameBytes)];
    this.#late = late;
    setImmediate(() => {
      this.#late = null;
      for (const data of late) this.#output(data);
      if (terminal.exit) this.#gone(terminal.exit.exitCode, terminal.exit.signal);
    });
    const output = terminal.onOutput?.((data) => this.#output(data));
    if (output) this.owned.own(output);
    this.owned.own(terminal.onExit(({ exitCode, signal }) => this.#gone(exitCode, signal)));
    return Buffer.from(paint.subarray(0, maxTerminalFrameBytes)).toString('base64');
  }

  /** A person's keys. Throws CodedError UNSUPPORTED_CAPABILITY for a view that only looks. */
  type(data: Uint8Array): 'passed_on' | 'held' | 'refused' {
    this.#mustDrive();
    return this.#agent.terminal.personInput(data).kind;
  }

  resize(cols: number, rows: number): void {
    this.#mustDrive();
    this.#agent.terminal.resize(cols, rows);
    this.#tellSize();
  }

  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    void this.owned[Symbol.asyncDispose]();
  }

  get #sizeNow(): string {
    const { cols, rows } = this.#agent.terminal;
    return `${cols}x${rows}`;
  }

  #mustDrive(): void {
    if (this.#readOnly) {
      throw new CodedError(
        'UNSUPPORTED_CAPABILITY',
        'this view only looks; attach without readOnly',
      );
    }
  }

  #output(data: Uint8Array): void {
    if (this.#late) {
      this.#late.push(data);
      return;
    }
    this.#tellSize();
    if (this.#behind) return;
    if (this.outbox.unsentBytes > this.#pauseAtBytes) {
      this.#behind = true;
      this.#viewer.transport.whenDrained(() => void this.#catchUp());
      return;
    }
    for (let at = 0; at < data.length; at += maxTerminalFrameBytes) {
      const part = Buffer.from(data.subarray(at, at + maxTerminalFrameBytes));
      this.#tell({ kind: 'output', data: part.toString('base64') });
    }
  }

  async #catchUp(): Promise<void> {
    if (this.#ended) return;
    const paint = await this.#paint();
    if (this.#ended) return;
    this.#behind = false;
    const first = Buffer.from(paint.subarray(0, maxTerminalFrameBytes));
    this.#tell({ kind: 'lost', paint: first.toString('base64') });
    this.#output(paint.subarray(maxTerminalFrameBytes));
  }

  async #paint(): Promise<Uint8Array> {
    return (await this.#agent.terminal.paint?.()) ?? new Uint8Array();
  }

  #tellSize(): void {
    const size = this.#sizeNow;
    if (size === this.#size) return;
    this.#size = size;
    const { cols, rows } = this.#agent.terminal;
    this.#tell({ kind: 'size', cols, rows });
  }

  #gone(exitCode: number | null, signal: number | null): void {
    this.#tell({ kind: 'gone', exitCode, signal });
    this[Symbol.dispose]();
  }

  #tell(frame: FrameBody): void {
    if (!this.#ended) this.outbox.tell({ type: 'terminal', attachId: this.#attachId, ...frame });
  }
}

type FrameBody = TerminalFrame extends infer Frame
  ? Frame extends TerminalFrame
    ? Omit<Frame, 'type' | 'attachId'>
    : never
  : never;
