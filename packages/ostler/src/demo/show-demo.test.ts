import { Screen } from '@ostler/terminal';
import { describe, expect, test } from 'vitest';
import type { DemoOutput } from './demo-output.js';
import type { DemoReport } from './demo-report.js';
import { showDemo } from './show-demo.js';

function collected(): { output: DemoOutput; text: () => string } {
  const parts: string[] = [];
  return { output: { write: (text) => void parts.push(text) }, text: () => parts.join('') };
}

describe('demo with the simulated agent', () => {
  test('as JSON: one document, every claim agrees', async () => {
    const { output, text } = collected();
    expect(await showDemo({ engine: 'simulated', json: true, output })).toBe(0);
    const report = JSON.parse(text()) as DemoReport;
    expect(report.engine).toBe('simulated');
    expect(report.claims).toEqual({ agree: true, failed: [] });
    expect(report.modelReceived.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    expect(report.receipts.map(({ state }) => state)).toEqual(Array(4).fill('completed'));
    expect(report.steps).toHaveLength(6);
    expect(report.steps[3]?.screen.join('\n')).toContain('May I run this command?');
    const [, b, c, d] = report.receipts;
    expect([b, c].map((receipt) => receipt?.input?.mode)).toEqual(['steering', 'steering']);
    expect(d?.history).toContainEqual(
      expect.objectContaining({ phase: 'waiting_for_user', hold: 'permission' }),
    );
  }, 30_000);

  test('as lines: one a change, and a summary', async () => {
    const { output, text } = collected();
    expect(await showDemo({ engine: 'simulated', json: false, output })).toBe(0);
    expect(text()).toMatch(/demo-d +steering +waiting_for_user +queued +hold: permission/);
    expect(text()).toContain('Every receipt agrees with what the model was given.');
    expect(text()).not.toContain('\u001b');
  }, 30_000);

  test('on a terminal: a live picture of receipts and agent, and the terminal given back', async () => {
    using screen = new Screen({ cols: 80, rows: 24 });
    const seen: string[] = [];
    const looks: Promise<void>[] = [];
    const look = async (): Promise<void> => {
      const snapshot = await screen.look();
      seen.push(snapshot.rows.map((row) => row.text).join('\n'));
    };
    const output: DemoOutput = {
      isTTY: true,
      columns: 80,
      rows: 24,
      write(text) {
        screen.feed(text);
        looks.push(look());
      },
    };
    const pace = { stepMs: 150 };
    expect(await showDemo({ engine: 'simulated', json: false, output, pace })).toBe(0);
    await Promise.all(looks);
    const held = seen.find((picture) => picture.includes('hold: permission')) ?? '';
    expect(held).toContain('ostler demo · simulated');
    expect(held).toContain('May I run this command?');
    const last = await screen.look();
    expect(last.modes).toMatchObject({ alternateScreen: false, cursorVisible: true });
    expect(seen.at(-1)).toContain('Every receipt agrees');
  }, 30_000);

  test('an abort ends it at once and gives the terminal back', async () => {
    const { output, text } = collected();
    const stop = new AbortController();
    const tty = { ...output, isTTY: true, columns: 80, rows: 24 };
    const demo = showDemo({ engine: 'simulated', json: false, output: tty, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(demo).rejects.toThrow('enough');
    expect(text().endsWith('\u001b[?1049l')).toBe(true);
  }, 30_000);
});
