import type { ModelScript } from '../model-server/script.js';
import type { RealEngineOptions } from '../real-engines/real-engine-request.js';

/** One thing the rig does to the terminal. */
export type RigStep =
  | { readonly do: 'paste'; readonly text: string }
  | { readonly do: 'keys'; readonly keys: string }
  /** Waits until the screen's text includes this. */
  | { readonly do: 'see'; readonly text: string }
  /** Waits until the screen's text no longer includes this. */
  | { readonly do: 'gone'; readonly text: string }
  /** Waits until nothing has been written for this long. */
  | { readonly do: 'quiet'; readonly ms: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'mark'; readonly label: string }
  | { readonly do: 'resize'; readonly cols: number; readonly rows: number }
  /** Waits until the model stands at the hold. */
  | { readonly do: 'reached'; readonly hold: string }
  | { readonly do: 'release'; readonly hold: string }
  /** Ends the engine and starts it again in the same home and folder. */
  | { readonly do: 'restart'; readonly args?: readonly string[] };

export interface RigScenario {
  readonly name: string;
  /** One sentence for the side file. */
  readonly made: string;
  readonly options?: RealEngineOptions;
  readonly script: ModelScript;
  readonly steps: readonly RigStep[];
  readonly cols?: number;
  readonly rows?: number;
}
