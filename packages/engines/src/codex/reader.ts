import type { ScreenSnapshot } from '@ostler/terminal';
import type { AnswerPlan, BodyVerdict, DraftMatch, EngineReader, PreparedBody } from '../engine.js';
import { compareVersions } from '../find-executable.js';
import { type OpenQuestion, type Reading, type ReadingSignal, unreadable } from '../reading.js';
import { type Activity, programState, readActivity } from './activity.js';
import { fingerprintOf, prepareCodexBody } from './body.js';
import { findComposer } from './composer.js';
import { matchRows } from './draft.js';
import { eraseKeys } from './erase.js';
import { blockedHold, composerHold, findDialog, isSearching } from './holds.js';
import { rowTexts } from './layout.js';
import { planCodexAnswer, readQuestion } from './question.js';
import { strings } from './strings.js';

/** Older versions don't take an input into the running turn, or weren't seen to. */
const STEERING_SINCE = '0.106.0';
/** What the normal screen keeps for other things than a tall draft, at most. */
const ROWS_BESIDE_DRAFT = 6;

/** Reads the screens of Codex 0.156.1 (normal screen) and 0.169.0 (alternate screen, OSC 7501). */
export class CodexReader implements EngineReader {
  readonly engine: string = 'codex';
  readonly version: string | null;
  readonly busyMode: 'steering' | 'native_input';
  /** An Enter right after the first prompt of a session goes to the follow-ups (fixtures/codex/0.169.0/burst-follow-up-queue.cast). */
  readonly awaitsTurnStart = true;

  constructor(version: string | null) {
    this.version = version;
    this.busyMode =
      version !== null && compareVersions(version, STEERING_SINCE) >= 0
        ? 'steering'
        : 'native_input';
  }

  read(snapshot: ScreenSnapshot, side: readonly ReadingSignal[] = []): Reading {
    const signals = [...screenSignals(snapshot), ...side];
    const said = programState(snapshot);
    if (snapshot.modes.synchronizedOutput || said?.state === 'clear') {
      return { ...unreadable, signals };
    }
    const texts = rowTexts(snapshot);
    const question = readQuestion(snapshot);
    if (question)
      return { ...unreadable, readable: true, hold: 'question', busy: true, question, signals };
    if (isSearching(snapshot, texts)) return held('search', snapshot, signals);
    const place = findComposer(snapshot);
    const dialog = place ? null : findDialog(texts);
    const hold = dialog ?? blockedHold(snapshot) ?? (place && composerHold(snapshot, texts, place));
    if (hold !== null) return held(hold, snapshot, signals);
    // Its composer always wants brackets; a prompt with the same glyph may be a shell's.
    if (!place || !snapshot.modes.bracketedPaste) return { ...unreadable, signals };
    const activity = readActivity(snapshot, texts, place.top);
    return {
      readable: true,
      composer: place.composer,
      hold: null,
      busy: activity.busy,
      queue: activity.queue,
      question: null,
      signals:
        activity.followUps === 0 ? signals : [...signals, followUpSignal(snapshot, activity)],
    };
  }

  overtakes(reading: Reading): string | null {
    return reading.signals.some(({ source }) => source === followUpSource)
      ? 'follow_up_queue'
      : null;
  }

  prepareBody(text: string, _snapshot: ScreenSnapshot): BodyVerdict {
    return prepareCodexBody(text, this.version);
  }

  /** `exact` is said only where Enter would submit: an open completion popup would eat it. */
  matchDraft(reading: Reading, body: PreparedBody, snapshot: ScreenSnapshot): DraftMatch {
    if (!reading.readable || !reading.composer) return 'other';
    if (reading.composer.draft === '') return 'empty';
    const { rows, hiddenRows } = reading.composer;
    const match = matchRows(
      {
        rows,
        cols: snapshot.cols,
        hiddenAbove: hiddenRows.above > 0 || mayBeScrolled(rows, snapshot),
        hiddenBelow: hiddenRows.below > 0,
      },
      body,
    );
    if (match === 'empty') return 'other';
    return match === 'exact' && hasCompletionPopup(snapshot) ? 'partial' : match;
  }

  fingerprint(text: string): string {
    return fingerprintOf(text);
  }

  eraseKeys(_reading: Reading, body: PreparedBody): string {
    return eraseKeys(body);
  }

  /**
   * Esc interrupts; with inputs pending it would send them at once instead, and
   * with a draft it may do something else: null then.
   */
  stopKeys(reading: Reading): string | null {
    if (!reading.readable || !reading.busy || !reading.composer) return null;
    if (reading.queue.length > 0 || reading.composer.draft !== '') return null;
    return '\u001b';
  }

  planAnswer(question: OpenQuestion, answers: Readonly<Record<string, string>>): AnswerPlan {
    return planCodexAnswer(question, answers);
  }
}

function held(hold: string, snapshot: ScreenSnapshot, signals: readonly ReadingSignal[]): Reading {
  const state = programState(snapshot)?.state;
  const title = snapshot.signals.title?.text ?? '';
  const busy =
    state === undefined
      ? strings.busyTitle.is.test(title) || strings.blockedTitle.is.test(title)
      : state === 'working' || state === 'blocked';
  return { ...unreadable, readable: true, hold, busy, signals };
}

/** On the normal screen (0.156.1) a draft taller than its box shows its end, without a mark. */
function mayBeScrolled(rows: readonly string[], snapshot: ScreenSnapshot): boolean {
  return !snapshot.modes.alternateScreen && rows.length >= snapshot.rows.length - ROWS_BESIDE_DRAFT;
}

function hasCompletionPopup(snapshot: ScreenSnapshot): boolean {
  return snapshot.rows.some((row) => strings.completionHint.is.test(row.text));
}

function screenSignals(snapshot: ScreenSnapshot): ReadingSignal[] {
  const { title, programState: state } = snapshot.signals;
  const signals: ReadingSignal[] = [];
  if (title) signals.push({ source: 'title', value: title.text, atMs: title.atMs });
  if (state) {
    const value = state.kind === null ? state.state : `${state.state}:${state.kind}`;
    signals.push({ source: 'program_state', value, atMs: state.atMs });
  }
  return signals;
}

const followUpSource = 'follow_ups';

function followUpSignal(snapshot: ScreenSnapshot, { followUps }: Activity): ReadingSignal {
  return { source: followUpSource, value: String(followUps), atMs: snapshot.atMs };
}
