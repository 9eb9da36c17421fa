import type { ReportedReceipt } from './demo-report.js';
import { headerRow, lastEntry, receiptCells, rowOf, tableWidth } from './receipt-row.js';

export interface DemoScene {
  readonly cols: number;
  readonly rows: number;
  readonly title: string;
  readonly step: string;
  readonly receipts: readonly ReportedReceipt[];
  readonly agentRows: readonly string[];
  /** Milliseconds since a receipt's text was sent. */
  readonly ageMs: (key: string) => number;
}

/** One line of the picture and how it is to look. */
export interface DemoLine {
  readonly text: string;
  readonly style: DemoStyle;
}

export type DemoStyle = 'plain' | 'title' | 'faint' | 'waiting' | 'going' | 'good' | 'bad';

const gap = 3;
const tableRows = 9;
const leastAgentCols = 56;
const leastAgentRows = 8;

/** Side by side where there is room for both, else the agent below the receipts. */
export function isWide(cols: number): boolean {
  return cols >= tableWidth + gap + leastAgentCols;
}

/** The size of the agent's terminal inside a picture of this size. */
export function agentSize(cols: number, rows: number): { cols: number; rows: number } {
  return isWide(cols)
    ? { cols: cols - tableWidth - gap, rows: Math.max(leastAgentRows, rows - 3) }
    : { cols: Math.max(20, cols), rows: Math.max(leastAgentRows, rows - tableRows - 1) };
}

/** The picture: each line's parts from left to right, never more than fits. */
export function layOut(scene: DemoScene): readonly (readonly DemoLine[])[] {
  const { cols, rows } = scene;
  const head: DemoLine[][] = [
    [{ text: cut(scene.title, cols), style: 'title' }],
    [{ text: cut(scene.step, cols), style: 'plain' }],
  ];
  const table = tableLines(scene);
  const agent = scene.agentRows.map((text): DemoLine => ({ text, style: 'plain' }));
  if (!isWide(cols)) {
    const frame: DemoLine = { text: '─'.repeat(cols), style: 'faint' };
    return [...head, ...[blank, ...table, frame, ...agent].map((line) => [fit(line, cols)])].slice(
      0,
      rows,
    );
  }
  const height = Math.max(table.length, agent.length);
  const body = Array.from({ length: height }, (_, index): DemoLine[] => [
    fit(padded(table[index] ?? blank, tableWidth), tableWidth),
    { text: ' │ ', style: 'faint' },
    fit(agent[index] ?? blank, cols - tableWidth - gap),
  ]);
  return [...head, [blank], ...body].slice(0, rows);
}

function tableLines({ ageMs, receipts }: DemoScene): DemoLine[] {
  const lines = receipts.map((receipt): DemoLine => {
    const { idempotencyKey: key, state } = receipt;
    // What waits grows older in sight; the rest keeps the time of its last change.
    const age = state === 'queued' ? ageMs(key) : undefined;
    return { text: rowOf(receiptCells(key, lastEntry(receipt), age)), style: styleOf(receipt) };
  });
  const free = Array.from({ length: Math.max(0, 4 - lines.length) }, () => blank);
  return [{ text: headerRow, style: 'faint' }, ...lines, ...free];
}

export function styleOf({ input, state }: ReportedReceipt): DemoStyle {
  if (state === 'completed') return 'good';
  if (state === 'rejected' || state === 'unknown' || input?.phase === 'unconfirmed') return 'bad';
  return state === 'queued' ? 'waiting' : 'going';
}

const blank: DemoLine = { text: '', style: 'plain' };

function fit(line: DemoLine, cols: number): DemoLine {
  return { ...line, text: cut(line.text, cols) };
}

function padded(line: DemoLine, cols: number): DemoLine {
  return { ...line, text: line.text + ' '.repeat(Math.max(0, cols - [...line.text].length)) };
}

function cut(text: string, cols: number): string {
  const characters = [...text];
  return characters.length <= cols ? text : `${characters.slice(0, cols - 1).join('')}…`;
}
