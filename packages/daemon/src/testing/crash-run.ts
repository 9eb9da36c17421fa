import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type ScriptInput, type SimulatedControl, simulatedLaunch } from '@ostler/lab';
import type { Receipt } from '@ostler/protocol';
import { Disposables } from '@ostler/runtime';

/** What a life is told to do; see crash-program.mjs. */
export type Step =
  | { readonly do: 'send'; readonly idempotencyKey: string; readonly text: string }
  | { readonly do: 'stop' | 'cancel'; readonly idempotencyKey: string }
  | {
      readonly do: 'answer';
      readonly idempotencyKey: string;
      readonly answers: Readonly<Record<string, string>>;
    }
  | {
      readonly do: 'wait';
      readonly idempotencyKey: string;
      readonly until: 'accepted' | 'started' | 'settled';
    }
  /** Waits until the other side has done what it is told. */
  | { readonly do: 'tell'; readonly what: string }
  /** Waits until the process has passed a point. */
  | { readonly do: 'passed'; readonly point: string }
  | { readonly do: 'rest' };

export interface Scenario {
  readonly name: string;
  /** The agent lives in a host, and outlives the process that dies. */
  readonly hosted: boolean;
  readonly script: ScriptInput;
  /** Before the points are counted. */
  readonly prelude: readonly Step[];
  readonly steps: readonly Step[];
  /** What the prelude tells the other side to do. */
  readonly onTold?: Readonly<Record<string, (control: SimulatedControl) => Promise<void>>>;
  /** Lets the agent come to rest, before it is asked again. */
  readonly finish?: (control: SimulatedControl) => Promise<void>;
}

export interface CrashOutcome {
  /** The point was reached, and the process died there. */
  readonly died: boolean;
  readonly points: readonly string[];
  readonly faults: readonly string[];
}

interface Life {
  readonly agentId: string | null;
  readonly points: readonly string[];
  /** Keys whose request was answered. */
  readonly answered: ReadonlyMap<string, string>;
  readonly receipts: ReadonlyMap<string, Receipt>;
  readonly left: ReadonlyMap<string, Receipt>;
  readonly ended: boolean;
}

const program = fileURLToPath(new URL('crash-program.mjs', import.meta.url));
const afterwards = { idempotencyKey: 'afterwards', text: 'a message after the crash' } as const;
/** A life that hangs is a fault of its own. */
const lifeMs = 25_000;

/** Runs the scenario once and has the process die at `killAt`; null: nowhere. */
export async function crashOnce(scenario: Scenario, killAt: string | null): Promise<CrashOutcome> {
  await using owned = new Disposables();
  const dir = mkdtempSync(join(tmpdir(), 'ostler-crash-'));
  owned.defer(() => rmSync(dir, { recursive: true, force: true }));
  const stateDir = join(dir, 'state');
  const { control, ...launch } = owned.own(await simulatedLaunch({ script: scenario.script }));
  const { hosted, prelude, steps } = scenario;
  const first = await live(
    { stateDir, hosted, launch, prelude, steps, killAt, epoch: 1 },
    scenario,
    control,
  );
  if (killAt === null) return { died: false, points: first.points, faults: [] };
  if (first.ended) return { died: false, points: first.points, faults: [] };
  await scenario.finish?.(control);
  const again = steps.filter(
    ({ do: what }) => what === 'send' || what === 'stop' || what === 'answer',
  );
  const rest: Step[] = [...again, { do: 'rest' }];
  if (hosted) {
    rest.push({ do: 'send', ...afterwards });
    rest.push({ do: 'wait', idempotencyKey: afterwards.idempotencyKey, until: 'accepted' });
    rest.push({ do: 'rest' });
  }
  const second = await live(
    { stateDir, hosted, adopt: first.agentId, prelude: [], steps: rest, killAt: null, epoch: 2 },
    scenario,
    control,
  );
  return { died: true, points: first.points, faults: faultsOf(scenario, first, second, control) };
}

async function live(
  task: Readonly<Record<string, unknown>>,
  scenario: Scenario,
  control: SimulatedControl,
): Promise<Life> {
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: lifeMs,
    killSignal: 'SIGTERM',
  });
  const closed = once(child, 'close');
  const points: string[] = [];
  const answered = new Map<string, string>();
  const receipts = new Map<string, Receipt>();
  const left = new Map<string, Receipt>();
  let agentId: string | null = null;
  let ended = false;
  if (!child.stdout) throw new TypeError('the child has no stdout');
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text);
    if (line.crossed) points.push(line.crossed);
    if (line.agentId) agentId = line.agentId;
    if (line.answered) answered.set(line.answered, line.status);
    if (line.receipt) receipts.set(line.receipt.idempotencyKey, line.receipt);
    if (line.left) left.set(line.left.idempotencyKey, line.left);
    if (line.ended) ended = true;
    if (line.told) {
      await scenario.onTold?.[line.told]?.(control);
      child.stdin?.write('go\n');
    }
  }
  await closed;
  return { agentId, points, answered, receipts, left, ended };
}

/** Both lives, held against what the agent was really given. */
function faultsOf(
  scenario: Scenario,
  first: Life,
  second: Life,
  control: SimulatedControl,
): string[] {
  const faults: string[] = [];
  if (!second.ended) faults.push('the second life did not come to its end');
  const received = control.received();
  const sends = [...scenario.prelude, ...scenario.steps].filter((step) => step.do === 'send');
  const known = new Set([...sends.map(({ text }) => text), afterwards.text]);
  for (const { count, text } of received) {
    if (!known.has(text))
      faults.push(`the agent was given ${JSON.stringify(text)}, which nobody sent`);
    else if (count > 1) faults.push(`${JSON.stringify(text)} was submitted ${count} times`);
  }
  const countOf = (text: string): number => received.find((each) => each.text === text)?.count ?? 0;
  for (const { idempotencyKey, text } of sends) {
    const receipt = second.left.get(idempotencyKey);
    const before = first.receipts.get(idempotencyKey);
    if (before && !receipt) faults.push(`${idempotencyKey} was lost`);
    if (!receipt) continue;
    const says = `${idempotencyKey} says ${receipt.state} (${receipt.error?.code ?? '–'})`;
    const count = countOf(text);
    if (receipt.state === 'rejected' && count > 0) faults.push(`${says} and was submitted`);
    const claimed = receipt.state === 'started' || receipt.state === 'completed';
    if (claimed && count === 0) faults.push(`${says} and was not submitted`);
    if (receipt.state === 'queued') faults.push(`${says} and never moves`);
    const final = before?.state === 'completed' || before?.state === 'rejected';
    if (final && before.state !== receipt.state) faults.push(`${says}, and was ${before.state}`);
  }
  for (const [key, status] of second.answered) {
    if (first.answered.has(key) && status !== 'duplicate') {
      faults.push(`${key} was answered before and is ${status} again`);
    }
  }
  if (scenario.hosted) {
    const last = second.left.get(afterwards.idempotencyKey);
    if (countOf(afterwards.text) !== 1) {
      faults.push(`the agent takes nothing any more: ${JSON.stringify(last)}`);
    }
  }
  const answers = control.events.filter(({ event }) => event === 'dialog_answered').length;
  if (answers > 1) faults.push(`a dialog was answered ${answers} times`);
  return faults;
}
