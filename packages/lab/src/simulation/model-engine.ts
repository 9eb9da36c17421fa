import type { PastedNote } from '@ostler/controller';
import type { Clock, Timer } from '@ostler/runtime';
import { ModelDraft, type Piece, textOf } from './model-draft.js';
import { type ModelKey, parseKeys } from './model-keys.js';
import { ModelPainter } from './model-painter.js';
import { ModelRecord } from './model-record.js';
import { ModelTurns } from './model-turns.js';
import type { EnginePlan, ModelDialog, RangeMs } from './plan.js';
import type { Chance } from './random.js';
import { blankView, type View } from './view.js';
import type { OpenDialog, Sent, Witness } from './witness.js';

interface Key {
  readonly key: ModelKey;
  readonly sent: Sent;
  /** How long the engine works at it. */
  readonly takesMs: number;
}

interface EngineParts {
  readonly plan: EnginePlan;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly recordChance: Chance;
  readonly paintChance: Chance;
  readonly witness: Witness;
}

/** A dialog shown so long has been seen by whoever looks. */
const noticedAfterMs = 2_000;

/** A coding agent as a schedule needs one: exact in what it takes, late and careless in what it shows. */
export class ModelEngine {
  readonly plan: EnginePlan;
  readonly record: ModelRecord;
  readonly painter: ModelPainter;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #witness: Witness;
  readonly #draft: ModelDraft = new ModelDraft();
  readonly #turns: ModelTurns;
  readonly #dialogs: OpenDialog[] = [];
  alive = true;
  swallow = 0;
  #phase: 'starting' | 'ready' | 'shell' = 'starting';
  #dialogCount = 0;
  #announced: ModelDialog | null = null;
  #stash: Piece[] = [];
  #ghost: string | null;
  #popupOpen = false;
  #unread: Sent[] = [];
  #keys: Key[] = [];
  #readTimer: Timer | null = null;
  #keyTimer: Timer | null = null;
  /** Shown in the composer's place for a moment. */
  #flash: string | null = null;
  #inPaste: { readonly sent: Sent; readonly timer: Timer } | null = null;
  #readingStalls = 0;
  #calm = false;

  constructor(parts: EngineParts) {
    this.plan = parts.plan;
    this.#clock = parts.clock;
    this.#chance = parts.chance;
    this.#witness = parts.witness;
    this.#ghost = parts.plan.ghost;
    this.record = new ModelRecord(parts.plan, parts.clock, parts.recordChance);
    this.painter = new ModelPainter({
      plan: parts.plan,
      clock: parts.clock,
      chance: parts.paintChance,
      view: () => this.view(),
      isBusy: () => this.#turns.busy,
    });
    this.#turns = new ModelTurns({
      plan: parts.plan,
      clock: parts.clock,
      record: this.record,
      witness: parts.witness,
      turnMs: () => this.#range(this.plan.turnMs),
      modalOpen: () => this.#dialogs.length > 0,
      onChange: () => {
        this.painter.paint();
        this.painter.spin();
      },
    });
    this.#later(parts.plan.bootMs, () => {
      if (this.#phase === 'starting') this.#phase = 'ready';
      this.painter.paint();
    });
    this.painter.paint();
  }

  get busy(): boolean {
    return this.#turns.busy;
  }

  get openDialog(): OpenDialog | null {
    return this.#dialogs.at(-1) ?? null;
  }

  get draftPieces(): readonly Piece[] {
    return this.#draft.pieces;
  }

  /** Bytes have come. They are read in order, and together where they came close. */
  input(sent: Sent): void {
    if (!this.alive) return;
    this.#unread.push(sent);
    this.#wantRead();
  }

  /** What its terminal's own process keeps: it outlives ours. */
  readonly host: { note: PastedNote | null; writesSince: number } = { note: null, writesSince: 0 };

  open(kind: ModelDialog): void {
    if (!this.alive || this.#phase !== 'ready') return;
    const overDraft = !this.#draft.empty;
    if (overDraft && kind === 'permission' && this.plan.announceMs > 0 && !this.#announced) {
      this.#announced = kind;
      this.painter.paint();
      this.#later(this.plan.announceMs, () => {
        this.#announced = null;
        this.#openNow(kind);
      });
      return;
    }
    this.#openNow(kind);
  }

  /** The dialog in front goes by itself: answered elsewhere, or out of time. */
  closeItself(): void {
    const dialog = this.openDialog;
    const sinceMs = dialog ? this.painter.shownSinceMs(dialog.number) : null;
    const noticed = sinceMs !== null && this.#clock.monotonicMs() - sinceMs > noticedAfterMs;
    if (noticed && this.plan.dialogDropsDraft) this.#draft.clear();
    this.close();
  }

  close(): void {
    if (this.#dialogs.pop()) {
      this.#witness.note(() => 'a dialog closes');
      if (this.#dialogs.length === 0) this.#turns.modalClosed();
    }
    this.painter.paint();
  }

  stall(what: 'reading' | 'painting' | 'both', forMs: number): void {
    const reading = what !== 'painting';
    const painting = what !== 'reading';
    if (reading) this.#readingStalls += 1;
    if (painting) this.painter.stall();
    this.#later(forMs, () => {
      if (reading) this.#readingStalls = Math.max(0, this.#readingStalls - 1);
      if (painting) this.painter.resume();
      this.#nextKey();
    });
  }

  ghost(text: string): void {
    this.#ghost = text;
    this.painter.paint();
  }

  endTurn(outcome: 'completed' | 'failed' | 'cancelled'): void {
    this.#turns.end(outcome);
  }

  becomeShell(): void {
    if (!this.alive) return;
    this.#phase = 'shell';
    this.#dialogs.length = 0;
    this.#turns.end('cancelled');
    this.painter.paint();
  }

  die(): void {
    this.alive = false;
    this.#unread = [];
    this.#turns.stop();
    this.record.stop();
    this.painter.stop();
    for (const timer of [this.#readTimer, this.#keyTimer]) timer?.[Symbol.dispose]();
  }

  /** Nothing is careless any more. */
  calm(): void {
    this.#calm = true;
    this.record.calm();
    this.#turns.calm();
    this.swallow = 0;
    this.#readingStalls = 0;
    this.#nextKey();
    this.painter.calm();
  }

  view(): View {
    if (this.#phase === 'starting') return blankView;
    if (this.#phase === 'shell') return { ...blankView, readable: true, hold: 'shell' };
    const { busy } = this.#turns;
    const dialog = this.openDialog;
    if (dialog) {
      const { kind, number } = dialog;
      return { ...blankView, readable: true, hold: kind, dialog: { kind, number }, busy };
    }
    return {
      readable: true,
      draft: this.#flash ?? this.#draft.text,
      ghost: this.#ghost,
      hold: this.#announced,
      dialog: null,
      busy,
      stashed: this.#stash.length > 0,
      queue: this.plan.showsQueue ? this.#turns.waiting.map(({ pieces }) => textOf(pieces)) : [],
    };
  }

  /** Everything that came has been read. */
  get caughtUp(): boolean {
    return this.#unread.length === 0 && this.#keys.length === 0;
  }

  #openNow(kind: ModelDialog): void {
    if (!this.alive || this.#phase !== 'ready') return;
    this.#dialogCount += 1;
    const openedAtMs = this.#clock.monotonicMs();
    const deaf = this.#draft.empty ? 0 : this.plan.graceMs;
    const dialog = {
      kind,
      number: this.#dialogCount,
      openedAtMs,
      deafUntilMs: openedAtMs + deaf,
    };
    this.#dialogs.push(dialog);
    this.#popupOpen = false;
    this.#witness.note(() => `dialog ${dialog.number} (${kind}) opens`);
    this.painter.paint();
  }

  #wantRead(): void {
    if (this.#readingStalls > 0 || this.#unread.length === 0 || this.#readTimer?.active) return;
    this.#readTimer = this.#later(this.#range(this.plan.readMs), () => this.#readAll());
  }

  #readAll(): void {
    if (this.#readingStalls > 0) return;
    const batch = this.#unread;
    this.#unread = [];
    for (const sent of batch) {
      const keys = this.#keysOf(sent);
      const pastes = Math.max(1, keys.filter(({ kind }) => kind === 'paste').length);
      for (const key of keys) this.#keys.push({ key, sent, takesMs: this.#takes(key, pastes) });
    }
    this.#nextKey();
  }

  #takes({ kind }: ModelKey, pastes: number): number {
    if (kind === 'paste') return this.#range(this.plan.echoMs) / pastes;
    return kind === 'enter' ? this.#range(this.plan.enterMs) : 0;
  }

  /** One key after the other; what a key does is done, and shown, once the engine has worked at it. */
  #nextKey(): void {
    if (this.#readingStalls > 0 || this.#keyTimer?.active) return;
    const [next] = this.#keys;
    if (!next) return this.#wantRead();
    this.#keyTimer = this.#later(next.takesMs, () => {
      if (this.#readingStalls > 0) return;
      this.#keys.shift();
      // Enters and pastes that come in one piece: the last Enter sends it all.
      const more = this.#keys.some(({ key }) => key.kind === 'paste');
      const joined = this.plan.rule === 'merging' && next.key.kind === 'enter' && more;
      this.#take(joined ? { kind: 'type', text: '\n' } : next.key, next.sent);
      this.painter.paint();
      this.#nextKey();
    });
  }

  #keysOf(sent: Sent): ModelKey[] {
    if (this.#phase === 'shell') {
      this.#witness.shellRead(sent.data, sent);
      return [];
    }
    const open = this.#inPaste;
    open?.timer[Symbol.dispose]();
    this.#inPaste = null;
    const keys = parseKeys(sent.data, open !== null);
    const last = keys.at(-1);
    if (last?.kind === 'paste' && last.open) {
      const timer = this.#later(1_000, () => void (this.#inPaste = null));
      this.#inPaste = { sent, timer };
    }
    return keys;
  }

  #take(key: ModelKey, sent: Sent): void {
    this.#witness.keyRead(key.kind, sent);
    if (this.#phase !== 'ready') {
      // Before it is ready text stays and Enters are lost.
      if (key.kind === 'paste' || key.kind === 'type') this.#write(key, sent);
      return;
    }
    const dialog = this.openDialog;
    if (dialog) this.#dialogKey(dialog, key, sent);
    else this.#composerKey(key, sent);
  }

  #dialogKey(dialog: OpenDialog, key: ModelKey, sent: Sent): void {
    if (dialog.kind === 'transcript' && key.kind !== 'escape') return;
    const answers =
      (key.kind === 'enter' && this.#clock.monotonicMs() >= dialog.deafUntilMs) ||
      key.kind === 'escape' ||
      (key.kind === 'type' && key.text === '1');
    const fills = key.kind === 'paste' && ['question', 'search', 'menu'].includes(dialog.kind);
    if (answers || fills) this.#witness.dialogKey(dialog, key.kind, sent);
    if (answers) this.close();
  }

  #composerKey(key: ModelKey, sent: Sent): void {
    switch (key.kind) {
      case 'paste':
      case 'type':
        return this.#write(key, sent);
      case 'enter':
        return this.#enter(sent);
      case 'erase':
        this.#witness.erased(this.#draft.pieces, sent);
        return this.#draft.clear();
      case 'escape':
        return this.#turns.end('cancelled');
      case 'stash': {
        const pieces = this.#draft.pieces;
        if (pieces.length === 0 && this.#stash.length > 0) {
          this.#draft.pieces = this.#stash;
          this.#stash = [];
        } else if (pieces.length > 0) {
          this.#stash = [...pieces];
          this.#draft.clear();
        }
        return;
      }
      case 'up': {
        const back = this.#turns.giveBack();
        if (back.length > 0) this.#draft.pieces = [...back, ...this.#draft.pieces];
        return;
      }
    }
  }

  #write(key: Extract<ModelKey, { text: string }>, sent: Sent): void {
    this.#draft.add({
      text: key.text,
      from: sent.serial,
      kind: key.kind === 'paste' && sent.by === 'us' ? 'paste' : 'typed',
    });
    if (this.plan.popup && key.text.includes('@')) this.#popupOpen = true;
  }

  #enter(sent: Sent): void {
    if (this.#draft.empty) return;
    if (this.#popupOpen) {
      this.#popupOpen = false;
      this.#witness.note(() => 'a popup eats an Enter');
      return this.painter.paint();
    }
    const swallowed = this.swallow > 0 || (!this.#calm && this.#chance.is(this.plan.swallowShare));
    if (swallowed || (this.plan.rule === 'daemon_queue' && this.#turns.busy)) {
      this.swallow = Math.max(0, this.swallow - 1);
      this.#witness.note(() => 'an Enter is swallowed');
      return this.#chance.is(0.5) ? this.painter.paint() : undefined;
    }
    const pieces = this.#draft.pieces;
    this.#draft.clear();
    this.#witness.submitted(pieces, sent);
    this.#turns.submit(pieces);
    if (this.#stash.length > 0) {
      this.#draft.pieces = this.#stash;
      this.#stash = [];
    } else if (this.plan.ghost && this.plan.ghostStyleLate && !this.#calm) {
      this.#flash = this.plan.ghost;
      this.#later(30, () => {
        this.#flash = null;
        this.painter.paint();
      });
    }
  }

  #range([min, max]: RangeMs): number {
    return this.#calm ? min : this.#chance.int(min, max);
  }

  #later(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs, () => {
      if (this.alive) callback();
    });
  }
}
