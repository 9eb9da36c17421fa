import { createHash } from 'node:crypto';
import type { ScreenSnapshot } from '@ostler/terminal';
import type { AnswerPlan, BodyVerdict, DraftMatch, EngineReader } from '../engine.js';
import { type Reading, type ReadingSignal, unreadable } from '../reading.js';
import { knownDialogs } from './strings.js';

/** Rows that may stand under a dialog's last row: borders and a status line. */
const ROWS_BELOW = 6;

/** Knows some dialogs by name and no composer: nothing is ever typed on these screens. */
export class GenericReader implements EngineReader {
  readonly engine: string;
  readonly version: string | null;
  readonly busyMode: 'daemon_queue' = 'daemon_queue';

  constructor(engine: string, version: string | null) {
    this.engine = engine;
    this.version = version;
  }

  read(snapshot: ScreenSnapshot, side: readonly ReadingSignal[] = []): Reading {
    const hold = this.#dialog(snapshot);
    return hold === null
      ? { ...unreadable, signals: side }
      : { ...unreadable, readable: true, hold, busy: true, signals: side };
  }

  prepareBody(_text: string, _snapshot: ScreenSnapshot): BodyVerdict {
    return {
      kind: 'refused',
      reason: 'engine_unknown',
      message: `What a text would do in ${this.engine} isn't known; use its own interface.`,
    };
  }

  matchDraft(): DraftMatch {
    return 'other';
  }

  fingerprint(text: string): string {
    const plain = text.replace(/\r\n?/gu, '\n').trim();
    return createHash('sha256').update(plain, 'utf8').digest('hex');
  }

  stopKeys(): null {
    return null;
  }

  planAnswer(): AnswerPlan {
    return {
      kind: 'refused',
      reason: 'engine_unknown',
      message: `${this.engine}'s dialogs are told from its composer, not answered.`,
    };
  }

  #dialog(snapshot: ScreenSnapshot): string | null {
    if (snapshot.modes.synchronizedOutput || snapshot.modes.cursorVisible) return null;
    const texts = snapshot.rows.map((row) => row.text);
    const last = texts.findLastIndex((text) => text.trim() !== '');
    for (const dialog of knownDialogs) {
      if (this.engine !== 'generic' && this.engine !== dialog.engine) continue;
      const foot = texts.findLastIndex((text) => dialog.foot.test(text));
      if (foot < 0 || foot < last - ROWS_BELOW) continue;
      if (texts.slice(0, foot).some((text) => dialog.head.test(text))) return dialog.hold;
    }
    return null;
  }
}
