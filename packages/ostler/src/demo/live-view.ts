import { type Clock, isCoded, type Timer } from '@ostler/runtime';
import type { Agent } from '../agent.js';
import type { DemoOutput } from './demo-output.js';
import { type DemoLine, type DemoStyle, layOut } from './layout.js';
import type { ReceiptLog } from './receipt-log.js';

const styles: Readonly<Record<DemoStyle, string>> = {
  plain: '',
  title: '\u001b[1m',
  faint: '\u001b[2m',
  waiting: '\u001b[33m',
  going: '\u001b[36m',
  good: '\u001b[32m',
  bad: '\u001b[31m',
};

/** At most 15 pictures a second, at least two while something moves on the agent's screen. */
const frameMs = 67;
const idleFrameMs = 200;

/** The demo's live picture on a terminal. Disposing it gives the terminal back. */
export class LiveView implements Disposable {
  readonly #output: DemoOutput;
  readonly #log: ReceiptLog;
  readonly #clock: Clock;
  readonly #colour: boolean;
  readonly #title: string;
  #agent: Agent | null = null;
  #step = '';
  #shown: readonly string[] = [];
  #timer: Timer | null = null;
  #painting = false;
  #again = false;
  #open = true;
  readonly #onResize = (): void => {
    this.#shown = [];
    this.update();
  };

  constructor(options: {
    readonly output: DemoOutput;
    readonly log: ReceiptLog;
    readonly clock: Clock;
    readonly colour: boolean;
    readonly title: string;
  }) {
    this.#output = options.output;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#colour = options.colour;
    this.#title = options.title;
    this.#output.write('\u001b[?1049h\u001b[?25l');
    this.#output.on?.('resize', this.#onResize);
    this.update();
  }

  set agent(agent: Agent) {
    this.#agent = agent;
    this.update();
  }

  set step(text: string) {
    this.#step = text;
    this.update();
  }

  /** Something changed: paint soon. */
  update(): void {
    if (this.#painting) {
      this.#again = true;
      return;
    }
    this.#arm(frameMs);
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.#timer?.[Symbol.dispose]();
    this.#output.off?.('resize', this.#onResize);
    this.#output.write('\u001b[0m\u001b[?25h\u001b[?1049l');
  }

  #arm(delayMs: number): void {
    this.#timer?.[Symbol.dispose]();
    if (!this.#open) return;
    this.#timer = this.#clock.setTimer(delayMs, () => {
      void this.#paint();
    });
  }

  async #paint(): Promise<void> {
    this.#painting = true;
    this.#again = false;
    const agentRows = await this.#agentRows();
    this.#painting = false;
    if (!this.#open) return;
    const lines = layOut({
      cols: this.#output.columns ?? 80,
      rows: this.#output.rows ?? 24,
      title: this.#title,
      step: this.#step,
      receipts: this.#log.receipts(),
      agentRows,
      ageMs: (key) => this.#log.ageMs(key),
    }).map((line) => this.#styled(line));
    const changed = lines.map((line, row) =>
      this.#shown[row] === line ? '' : `\u001b[${row + 1};1H\u001b[2K${line}`,
    );
    const whole = this.#shown.length === 0 ? '\u001b[2J' : '';
    this.#shown = lines;
    const out = whole + changed.join('');
    if (out !== '') this.#output.write(`\u001b[?2026h${out}\u001b[?2026l`);
    this.#arm(this.#again ? frameMs : idleFrameMs);
  }

  /** Empty once the agent has gone. */
  async #agentRows(): Promise<readonly string[]> {
    const agent = this.#agent;
    if (!agent || agent.status().state === 'gone') return [];
    try {
      return (await agent.screen()).rows;
    } catch (failure) {
      if (isCoded(failure, 'SCREEN_DISPOSED')) return [];
      throw failure;
    }
  }

  #styled(line: readonly DemoLine[]): string {
    return line
      .map(({ text, style }) =>
        this.#colour && style !== 'plain' ? `${styles[style]}${text}\u001b[0m` : text,
      )
      .join('');
  }
}
