import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, Disposables, isCoded, systemClock } from '@ostler/runtime';
import { createOstler } from '../create-ostler.js';
import { conduct } from './conduct.js';
import { type DemoAgent, simulatedDemoAgent } from './demo-agent.js';
import type { DemoOutput } from './demo-output.js';
import type { DemoReport, ReportedStep } from './demo-report.js';
import { failedClaims } from './judge.js';
import { agentSize } from './layout.js';
import { LiveView } from './live-view.js';
import { realDemoAgent } from './real-demo-agent.js';
import { ReceiptLog } from './receipt-log.js';
import { receiptCells, rowOf } from './receipt-row.js';
import { type Pace, paces, unwatchedSizes } from './scenario.js';
import { summaryLines } from './summary.js';

export const demoEngines = ['simulated', 'codex', 'claude'] as const;
export type DemoEngine = (typeof demoEngines)[number];

export interface DemoOptions {
  readonly engine: DemoEngine;
  /** One JSON document on `output`, and nothing else. */
  readonly json: boolean;
  readonly output: DemoOutput;
  /** For the failed claims where `output` is JSON's. */
  readonly errors?: DemoOutput;
  /** No colours: NO_COLOR is set, or the terminal has none. */
  readonly colour?: boolean;
  /** Aborting ends the demo at once and gives the terminal back. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** How long each step stands; for a person who watches where `output` is a terminal. */
  readonly pace?: Pace;
}

/**
 * Shows a whole delivery: four texts to one agent, two while it is busy, one behind a
 * permission dialog. Resolves with the exit code: 0 only where every claim of a receipt
 * agrees with what the model was given.
 *
 * Throws CodedError ENGINE_NOT_INSTALLED, SIMULATED_AGENT_NOT_BUILT, and what launching throws; or the signal's reason.
 */
export async function showDemo(options: DemoOptions): Promise<number> {
  const { engine, json, output } = options;
  const clock = options.clock ?? systemClock;
  const signal = options.signal ?? new AbortController().signal;
  const watched = !json && output.isTTY === true;
  const size = watched
    ? agentSize(output.columns ?? 80, output.rows ?? 24)
    : unwatchedSizes[engine === 'simulated' ? 'simulated' : 'real'];
  const log = new ReceiptLog(clock);
  const owned = new Disposables();
  const view = watched
    ? new LiveView({
        output,
        log,
        clock,
        colour: options.colour !== false,
        title: `ostler demo · ${engine}`,
      })
    : null;
  let report: DemoReport;
  try {
    report = await play({ ...options, clock, signal, log, size, owned, view });
  } finally {
    // Ending an agent takes its time; the terminal is given back before.
    view?.[Symbol.dispose]();
    await owned[Symbol.asyncDispose]();
  }
  if (json) output.write(`${JSON.stringify(report)}\n`);
  else output.write(`${summaryLines(report).join('\n')}\n`);
  if (json) for (const failure of report.claims.failed) options.errors?.write(`${failure}\n`);
  return report.claims.agree ? 0 : 1;
}

interface Playing extends DemoOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: ReceiptLog;
  readonly size: { readonly cols: number; readonly rows: number };
  readonly owned: Disposables;
  readonly view: LiveView | null;
}

async function play(demo: Playing): Promise<DemoReport> {
  const { clock, json, log, output, owned, signal, view } = demo;
  const stateDir = await mkdtemp(join(tmpdir(), 'ostler-demo-'));
  owned.defer(() => rm(stateDir, { recursive: true, force: true }));
  const demoAgent: DemoAgent = owned.own(await openAgent(demo));
  signal.throwIfAborted();
  const ostler = await createOstler({ stateDir, engines: demoAgent.engines, clock });
  owned.defer(() => ostler.close());
  ostler.on('receipt.updated', ({ receipt }) => {
    const change = log.note(receipt);
    if (!change) return;
    if (view) view.update();
    else if (!json) output.write(`${rowOf(receiptCells(change.key, change.entry))}\n`);
  });
  const agent = await ostler.launch(demoAgent.launch);
  if (view) view.agent = agent;
  const steps: ReportedStep[] = [];
  let step: string | null = null;
  const ended = await ending(
    conduct({
      ostler,
      agent,
      demoAgent,
      log,
      clock,
      signal,
      pace: demo.pace ?? (view ? paces.watched : paces.unwatched),
      onStep: async (text) => {
        if (step !== null) {
          const { rows: screen } = await agent.screen();
          steps.push({ text: step, endedAtMs: log.ageMs(), screen });
        }
        step = text;
        if (text === null) return;
        if (view) view.step = text;
        else if (!json) output.write(`${text}\n`);
      },
    }),
  );
  const receipts = log.receipts();
  const modelReceived = demoAgent.received();
  const strayAnswers = demoAgent.strayAnswers();
  const failed = [...ended, ...failedClaims({ receipts, modelReceived, strayAnswers })];
  return {
    engine: agent.engine,
    version: agent.version,
    receipts,
    modelReceived,
    steps,
    claims: { agree: failed.length === 0, failed },
  };
}

async function openAgent({ engine, size }: Playing): Promise<DemoAgent> {
  return engine === 'simulated'
    ? await simulatedDemoAgent(size)
    : await realDemoAgent(engine, size);
}

/** Empty where the demo came to its end, or why it didn't: the claims made so far are held against the model all the same. */
async function ending(conducted: Promise<void>): Promise<readonly string[]> {
  try {
    await conducted;
    return [];
  } catch (failure) {
    if (isCoded(failure, 'DEMO_STUCK')) return [`the demo got stuck: ${failure.message}`];
    throw failure;
  }
}
