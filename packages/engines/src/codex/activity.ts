import type { ScreenSnapshot } from '@ostler/terminal';
import { isBlank } from './layout.js';
import { strings } from './strings.js';

export interface ProgramState {
  readonly state: string;
  readonly kind: string | null;
}

/** What the engine says of itself by OSC 7501 (0.169.0 on); null where it never did. */
export function programState(snapshot: ScreenSnapshot): ProgramState | null {
  const said = snapshot.signals.programState;
  if (!said || (said.app !== null && said.app !== 'codex')) return null;
  return said;
}

export interface Activity {
  readonly busy: boolean;
  readonly queue: readonly string[];
  /** Of these, the ones that wait for the turn's end; what is steered meanwhile goes first. */
  readonly followUps: number;
}

/**
 * The status row and the blocks of queued texts stand right above the composer;
 * words like them further up belong to the conversation.
 */
export function readActivity(
  snapshot: ScreenSnapshot,
  texts: readonly string[],
  composerTop: number,
): Activity {
  const blocks: string[][] = [];
  let items: string[] = [];
  let more: string[] = [];
  let statusRow = false;
  let followUps = 0;
  for (let row = composerTop - 1; row >= 0; row -= 1) {
    const text = texts[row] ?? '';
    const item = strings.queueItem.is.exec(text);
    if (isBlank(text) || strings.queueHint.is.test(text) || isCompletion(text)) continue;
    if (item) {
      items.unshift([item[1] ?? '', ...more].join('\n'));
      more = [];
    } else if (text.startsWith('    ')) {
      more.unshift(text.slice(4));
    } else if (strings.queueHeads.is.some((head) => head.test(text))) {
      blocks.unshift(items);
      if (strings.followUpHead.is.test(text)) followUps += items.length;
      items = [];
      more = [];
    } else {
      statusRow = strings.statusRow.is.test(text);
      break;
    }
  }
  return { busy: isBusy(snapshot, statusRow), queue: blocks.flat(), followUps };
}

function isCompletion(text: string): boolean {
  return strings.completionHint.is.test(text);
}

function isBusy(snapshot: ScreenSnapshot, statusRow: boolean): boolean {
  const said = programState(snapshot);
  if (said && (said.state === 'working' || said.state === 'blocked')) return true;
  if (statusRow) return true;
  // While it streams an answer there is no status row; the title's spinner goes on.
  return said === null && strings.busyTitle.is.test(snapshot.signals.title?.text ?? '');
}
