import type { ScreenSnapshot } from '@ostler/terminal';
import type { AnswerPlan, BodyVerdict, DraftMatch, EngineReader, PreparedBody } from '../engine.js';
import { compareVersions } from '../find-executable.js';
import { type OpenQuestion, type Reading, type ReadingSignal, unreadable } from '../reading.js';
import { focusSource, planAnswer, tickedSource, typedSource } from './answer.js';
import { prepareBody } from './body.js';
import { isBusy, readQueue } from './busy.js';
import { findComposer } from './composer.js';
import { matchDraft } from './draft.js';
import { eraseKeys } from './erase.js';
import { claudeFingerprint } from './fingerprint.js';
import { findDialog, isBackAtShell } from './holds.js';
import { type QuestionOnScreen, readQuestion } from './question.js';
import { holdOfStatus } from './status-file.js';
import { wordings } from './strings.js';

/** Dialogs of a turn that waits for a person: it isn't over. */
const midTurn: readonly string[] = ['permission', 'question', 'plan_exit'];
/** The oldest version seen to say how many rows of a draft it hides. */
const hiddenRowsSince = '2.1.328';
const escape = '\u001b';

/** Reads Claude Code's screen; see the recordings under `fixtures/claude/`. */
export class ClaudeReader implements EngineReader {
  readonly engine = 'claude';
  readonly version: string | null;
  readonly busyMode = 'native_queue';

  /** 2.1.280 scrolls a tall draft without a word. */
  readonly #tellsHiddenRows: boolean;

  constructor(version: string | null) {
    this.version = version;
    this.#tellsHiddenRows = version !== null && compareVersions(version, hiddenRowsSince) >= 0;
  }

  read(snapshot: ScreenSnapshot, side: readonly ReadingSignal[] = []): Reading {
    if (snapshot.modes.synchronizedOutput) return unreadable;
    const signals = [...side, ...screenSignals(snapshot)];
    if (isBackAtShell(snapshot)) return { ...unreadable, readable: true, hold: 'shell', signals };
    const { modes } = snapshot;
    if (!modes.bracketedPaste || modes.cursorVisible) return { ...unreadable, signals };

    const found = findComposer(snapshot);
    const dialog = findDialog(snapshot, found);
    const end = found ? found.top : snapshot.rows.length;
    const busy = isBusy(snapshot, end);
    if (dialog !== null) {
      const asked = dialog === 'question' ? readQuestion(snapshot) : null;
      return {
        readable: true,
        composer: null,
        hold: dialog,
        busy: busy || midTurn.includes(dialog),
        queue: [],
        question: asked?.question ?? null,
        signals: asked ? [...signals, ...answerSignals(asked, snapshot.atMs)] : signals,
      };
    }
    // The status file may name what stands there: 2.1.280 paints queued texts below a permission.
    if (!found?.focused) return { ...unreadable, hold: holdOfStatus(side), busy, signals };
    return {
      readable: true,
      composer: found.shellMode ? null : found.composer,
      hold: found.shellMode
        ? 'shell_mode'
        : (comingPermission(snapshot, end) ?? holdOfStatus(side)),
      busy,
      queue: readQueue(snapshot, end, found.composer),
      question: null,
      signals,
    };
  }

  prepareBody(text: string, snapshot: ScreenSnapshot): BodyVerdict {
    return prepareBody(text, snapshot);
  }

  matchDraft(reading: Reading, body: PreparedBody, snapshot: ScreenSnapshot): DraftMatch {
    return matchDraft(reading, body, snapshot, this.#tellsHiddenRows);
  }

  fingerprint(text: string): string {
    return claudeFingerprint(text);
  }

  /** Escape interrupts a turn; a dialog would take it as an answer, so none gets it. */
  eraseKeys(_reading: Reading, body: PreparedBody, snapshot: ScreenSnapshot): string {
    return eraseKeys(body, snapshot.cols);
  }

  stopKeys(reading: Reading): string | null {
    if (!reading.readable || !reading.busy) return null;
    if (reading.hold !== null) return null;
    return reading.composer ? escape : null;
  }

  planAnswer(question: OpenQuestion, answers: Readonly<Record<string, string>>): AnswerPlan {
    return planAnswer(question, answers);
  }
}

/** `Waiting for permission…`: with a draft the dialog comes half a second later (fixtures/claude/2.1.328/s12-dialog-race.cast at 5.1). */
function comingPermission(snapshot: ScreenSnapshot, composerTop: number): string | null {
  const above = snapshot.rows.slice(Math.max(0, composerTop - 3), composerTop);
  return above.some((row) => wordings.permissionComing.pattern.test(row.text))
    ? 'permission'
    : null;
}

/** What stands in the dialog so far; an answer's steps are checked by it. */
function answerSignals(asked: QuestionOnScreen, atMs: number): ReadingSignal[] {
  return [
    { source: tickedSource, value: asked.ticked.join('\n'), atMs },
    { source: typedSource, value: asked.typed, atMs },
    { source: focusSource, value: String(asked.focus), atMs },
  ];
}

function screenSignals(snapshot: ScreenSnapshot): ReadingSignal[] {
  const { title } = snapshot.signals;
  const signals: ReadingSignal[] = [];
  if (title) signals.push({ source: 'title', value: title.text, atMs: title.atMs });
  if (snapshot.rows.some((row) => wordings.stashed.pattern.test(row.text))) {
    signals.push({ source: 'stash', value: 'draft stashed', atMs: snapshot.atMs });
  }
  return signals;
}
