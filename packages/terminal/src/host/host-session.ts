import { type Clock, CodedError, type Logger } from '@ostler/runtime';
import { type InProcessPty, type PtySpawnOptions, spawnPty } from '../in-process-pty.js';
import type { ProcessExit, ProcessIdentity, WriteOutcome } from '../pty-endpoint.js';
import { ByteLog } from './byte-log.js';
import type { HostErrorCode } from './host-errors.js';
import { chunkBytes, maxMarks, maxSyncs, windowBytes } from './host-limits.js';

/** Where a session's output goes: the connection that controls the host. */
export interface OutputSink {
  /** False once another connection controls the host. */
  readonly current: boolean;
  /** False while what was sent still waits. */
  readonly hasRoom: boolean;
  send(head: object, body?: Uint8Array): void;
}

/** The terminal had another size from this offset on. */
interface SizeMark {
  readonly seq: number;
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
}

export interface Checkpoint {
  readonly offset: number;
  readonly sizeSeq: number;
  readonly blob: Uint8Array;
}

export interface HostSessionOptions extends PtySpawnOptions {
  readonly sessionId: string;
  readonly channel: number;
  readonly metadata: string;
  readonly logBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once, when the child has ended. */
  readonly onEnded: () => void;
}

/**
 * One child of the host, the log of what it wrote, and the daemon that follows it. The
 * child never waits for the daemon: what doesn't fit is lost from the log, and the
 * daemon told so.
 */
export class HostSession {
  readonly sessionId: string;
  readonly channel: number;
  #metadata: string;
  /** Writes taken on since the metadata was set: whether what the metadata announces has come. */
  writesSinceMetadata = 0;
  /** Monotonic time of the child's end. */
  endedAtMs: number | null = null;
  readonly #pty: InProcessPty;
  readonly #clock: Clock;
  readonly #log: ByteLog;
  #sizeAtStart: { cols: number; rows: number; seq: number };
  #marks: SizeMark[] = [];
  #checkpoint: Checkpoint | null = null;
  #sink: OutputSink | null = null;
  #sentBytes = 0;
  #sentSeq = 0;
  #takenBytes = 0;
  #exitSent = false;
  #syncs: { readonly id: number; readonly offset: number }[] = [];

  private constructor(pty: InProcessPty, options: HostSessionOptions) {
    this.sessionId = options.sessionId;
    this.channel = options.channel;
    this.#metadata = options.metadata;
    this.#pty = pty;
    this.#clock = options.clock;
    this.#log = new ByteLog(options.logBytes);
    this.#sizeAtStart = { cols: options.cols, rows: options.rows, seq: 0 };
    pty.onData((data) => {
      this.#log.append(data);
      this.#dropMarks();
      this.pump();
    });
    pty.onExit(() => {
      this.endedAtMs = this.#clock.monotonicMs();
      this.pump();
      options.onEnded();
    });
  }

  static async spawn(options: HostSessionOptions): Promise<HostSession> {
    return new HostSession(await spawnPty(options), options);
  }

  get identity(): ProcessIdentity {
    return this.#pty.identity;
  }

  get metadata(): string {
    return this.#metadata;
  }

  set metadata(metadata: string) {
    this.#metadata = metadata;
    this.writesSinceMetadata = 0;
  }

  get exit(): ProcessExit | null {
    return this.#pty.exit;
  }

  describe(): object {
    const { cols, rows } = this.#pty;
    const { sessionId, channel, identity, exit, metadata, writesSinceMetadata } = this;
    return { sessionId, channel, identity, cols, rows, exit, metadata, writesSinceMetadata };
  }

  /** Output goes to `sink` from the checkpoint on, or from the oldest byte there is. */
  attach(sink: OutputSink): { readonly head: object; readonly blob: Uint8Array } {
    const checkpoint = this.#checkpoint;
    const from = checkpoint?.offset ?? 0;
    this.#sink = sink;
    this.#sentBytes = from;
    this.#takenBytes = from;
    this.#sentSeq = checkpoint?.sizeSeq ?? this.#sizeAtStart.seq;
    this.#exitSent = false;
    this.#syncs = [];
    const head = {
      ...this.describe(),
      from,
      until: this.#log.end,
      start: this.#log.start,
      hasCheckpoint: checkpoint !== null,
      sizeSeq: this.#sentSeq,
      startCols: this.#sizeAtStart.cols,
      startRows: this.#sizeAtStart.rows,
    };
    return { head, blob: checkpoint?.blob ?? new Uint8Array(0) };
  }

  detach(sink: OutputSink): void {
    if (this.#sink !== sink) return;
    this.#sink = null;
    this.#syncs = [];
  }

  taken(offset: number): void {
    this.#takenBytes = Math.max(this.#takenBytes, Math.min(offset, this.#sentBytes));
    this.pump();
  }

  /** A write that has begun goes on to its end, whoever controls the host meanwhile. */
  write(data: Uint8Array, sink: OutputSink): Promise<WriteOutcome> {
    this.writesSinceMetadata += 1;
    let begun = false;
    return this.#pty.write(data, () => {
      begun ||= sink.current;
      return begun;
    });
  }

  resize(cols: number, rows: number): void {
    this.#pty.readNow();
    this.#pty.resize(cols, rows);
    const seq = (this.#marks.at(-1)?.seq ?? this.#sizeAtStart.seq) + 1;
    this.#marks.push({ seq, offset: this.#log.end, cols, rows });
    const [oldest] = this.#marks;
    if (oldest && this.#marks.length > maxMarks) {
      this.#log.loseUntil(oldest.offset);
      this.#passMark();
    }
    this.pump();
  }

  kill(signal: NodeJS.Signals): void {
    this.#pty.kill(signal);
  }

  close(): Promise<void> {
    return this.#pty.close();
  }

  /** Answered behind everything the kernel holds now. */
  sync(id: number): void {
    if (this.#syncs.length >= maxSyncs)
      throw new CodedError<HostErrorCode>(
        'HOST_TOO_MANY',
        `${maxSyncs} syncs of a session wait; wait for one of them`,
      );
    this.#pty.readNow();
    this.#syncs.push({ id, offset: this.#log.end });
    this.pump();
  }

  keep(checkpoint: Checkpoint): void {
    const newest = this.#marks.at(-1)?.seq ?? this.#sizeAtStart.seq;
    if (
      checkpoint.offset > this.#sentBytes ||
      checkpoint.sizeSeq > newest ||
      checkpoint.offset < (this.#checkpoint?.offset ?? 0)
    )
      throw new CodedError<HostErrorCode>(
        'HOST_BAD_REQUEST',
        'a checkpoint stands for output that was sent, and is newer than the one before it',
      );
    this.#checkpoint = checkpoint;
    this.#log.trimTo(checkpoint.offset);
    while (this.#marks[0] && this.#marks[0].seq <= checkpoint.sizeSeq) this.#passMark();
    this.#dropMarks();
  }

  /** Sends what may be sent now. */
  pump(): void {
    const sink = this.#sink;
    if (sink === null || !sink.current) return;
    while (this.#step(sink));
  }

  #step(sink: OutputSink): boolean {
    const log = this.#log;
    const windowLeft = windowBytes - (this.#sentBytes - this.#takenBytes);
    if (this.#sentBytes < log.start) {
      // Told once there is room for what follows; until then more may be lost.
      if (windowLeft <= 0) return false;
      const { cols, rows } = this.#sizeAtStart;
      const lost = log.start - this.#sentBytes;
      const at = { channel: this.channel, cols, rows, sizeSeq: this.#sizeAtStart.seq };
      sink.send({ event: 'lost', ...at, lost, offset: log.start, modes: log.lostModes });
      this.#sentBytes = log.start;
      this.#sentSeq = Math.max(this.#sentSeq, this.#sizeAtStart.seq);
      this.#answerSyncs(sink, this.#sentBytes - 1);
      return true;
    }
    if (this.#sentSeq < this.#sizeAtStart.seq) {
      this.#sendSize(sink, this.#sizeAtStart);
      return true;
    }
    const mark = this.#marks.find(({ seq }) => seq > this.#sentSeq);
    if (mark && mark.offset <= this.#sentBytes) {
      this.#sendSize(sink, mark);
      return true;
    }
    const until = mark?.offset ?? log.end;
    if (this.#sentBytes < until) {
      if (windowLeft <= 0 || !sink.hasRoom) return false;
      const most = Math.min(chunkBytes, windowLeft, until - this.#sentBytes);
      const body = log.view(this.#sentBytes, most);
      sink.send({ event: 'output', channel: this.channel, offset: this.#sentBytes }, body);
      this.#sentBytes += body.length;
      // A program that never pauses keeps no look waiting; a size at the very border goes first.
      this.#answerSyncs(sink, this.#sentBytes - 1);
      return true;
    }
    this.#answerSyncs(sink, this.#sentBytes);
    if (this.#pty.exit !== null && !this.#exitSent) {
      this.#exitSent = true;
      sink.send({ event: 'exit', channel: this.channel, exit: this.#pty.exit });
    }
    return false;
  }

  #sendSize(sink: OutputSink, size: { cols: number; rows: number; seq: number }): void {
    const { cols, rows, seq } = size;
    this.#sentSeq = seq;
    sink.send({ event: 'resized', channel: this.channel, cols, rows, sizeSeq: seq });
  }

  #answerSyncs(sink: OutputSink, upTo: number): void {
    const waiting = this.#syncs;
    if (waiting.length === 0) return;
    this.#syncs = waiting.filter(({ offset }) => offset > upTo);
    for (const { id, offset } of waiting) if (offset <= upTo) sink.send({ id, ok: { offset } });
  }

  #dropMarks(): void {
    while (this.#marks[0] && this.#marks[0].offset < this.#log.start) this.#passMark();
  }

  #passMark(): void {
    const mark = this.#marks.shift();
    if (mark) this.#sizeAtStart = { cols: mark.cols, rows: mark.rows, seq: mark.seq };
  }
}
