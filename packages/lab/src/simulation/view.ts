import type { ScreenSnapshot } from '@ostler/terminal';
import type { ModelDialog } from './plan.js';

/** What stands on a model engine's screen. */
export interface View {
  readonly readable: boolean;
  /** Null where no composer takes keys. */
  readonly draft: string | null;
  readonly ghost: string | null;
  readonly hold: string | null;
  /** The dialog in front, and its number over the engine's life. */
  readonly dialog: { readonly kind: ModelDialog; readonly number: number } | null;
  readonly busy: boolean;
  readonly queue: readonly string[];
  /** A draft is put away, and the screen says so. */
  readonly stashed: boolean;
}

export const blankView: View = {
  readable: false,
  draft: null,
  ghost: null,
  hold: null,
  dialog: null,
  busy: false,
  queue: [],
  stashed: false,
};

/** A snapshot that carries the model's screen as it is, in place of cells. */
export interface ModelSnapshot extends ScreenSnapshot {
  readonly view: View;
}

export function viewOf(snapshot: ScreenSnapshot): View {
  return 'view' in snapshot ? (snapshot as ModelSnapshot).view : blankView;
}
