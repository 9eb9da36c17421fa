import type { OutputPart, PtyEndpoint, ScreenCheckpoint, TerminalSize } from './pty-endpoint.js';
import { Screen, type ScreenOptions } from './screen.js';

/** What `PtyHost.adopt` gives of a session. */
export interface AdoptedTerminal {
  readonly endpoint: PtyEndpoint;
  readonly checkpoint: ScreenCheckpoint | null;
  /** The output since the checkpoint, or since the beginning; the size as it was then. */
  readonly log: TerminalSize & { readonly parts: readonly OutputPart[] };
}

/** A screen that has seen what went before, and where its program's output goes on. */
export interface BegunScreen {
  readonly screen: Screen;
  readonly offset: number;
  /** Unset while the past is replayed: its replies have been given, or are stale. */
  reply: ((data: string) => void) | undefined;
}

/** Rebuilds a screen from a checkpoint and the output since. It is not `certain` where some is lost. */
export async function beginScreen(
  adopted: AdoptedTerminal,
  options: Pick<ScreenOptions, 'clock' | 'defer'>,
): Promise<BegunScreen> {
  const { checkpoint, log } = adopted;
  const { clock, defer } = options;
  const later: { begun?: BegunScreen } = {};
  const shared = {
    ...(clock && { clock }),
    ...(defer && { defer }),
    onReply: (data: string) => later.begun?.reply?.(data),
  };
  const restored = checkpoint ? Screen.fromCheckpoint(shared, checkpoint) : null;
  const screen = restored ?? new Screen({ ...shared, cols: log.cols, rows: log.rows });
  let offset = checkpoint?.offset ?? 0;
  let lost = checkpoint !== null && restored === null;
  for (const part of log.parts)
    switch (part.kind) {
      case 'output':
        screen.feed(part.data);
        offset += part.data.length;
        break;
      case 'size':
        screen.resize(part.size.cols, part.size.rows);
        break;
      case 'lost':
        screen.resize(part.lost.cols, part.lost.rows);
        screen.feed(part.lost.modes);
        offset = part.lost.offset;
        lost = true;
        break;
    }
  await screen.look();
  if (lost) screen.certain = false;
  later.begun = { screen, offset, reply: undefined };
  return later.begun;
}
