// `npm run bench`: every figure comes from this one run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchEngine, isShutOff, newestPin, openBenchAgent, places } from './bench-agent.js';
import { type DaemonReport, measureDaemon } from './daemon-load.js';
import { measureIdle } from './idle-cost.js';
import { type MailCost, measureMail } from './mail-cost.js';
import { describeMachine } from './meters.js';
import { overheadOf } from './overhead.js';
import { measureParse } from './parse-cost.js';
import { type BenchReport, type EngineReport, toMarkdown } from './report.js';
import { BenchRig } from './rig.js';
import { sendSeries, warmUpCount } from './send-series.js';
import { spreadOf } from './statistics.js';
import { measureStore, type StoreCost } from './store-cost.js';
import { readTimeline } from './timeline.js';

const usage = `Usage: npm run bench -- [--engine claude|codex|simulated] [--deliveries N] [--only daemon|mail] [--json] [--out FILE]
  --engine       what to measure, several times for several; where left out, every real engine
                 that is installed (npm run engines), or the simulated agent
  --deliveries   for each engine, 40 where left out
  --only daemon  the daemon with 200 sessions, and its start with 100,000 receipts, alone
  --only mail    the mailbox's saves and waits, alone
  --json         the report as JSON
  --out          writes the report to FILE as well
`;

const parts = ['daemon', 'mail'] as const;
const known: readonly BenchEngine[] = ['claude', 'codex', 'simulated'];
const defaultDeliveries = 40;
const maxDeliveries = 2_000;
const storeRounds = 200;
const blindShare = 4;

/** What each agent CLI prints when it is asked for its version. */
const versionLines: Readonly<Record<BenchEngine, (version: string) => string>> = {
  claude: (version) => `${version} (Claude Code)`,
  codex: (version) => `codex-cli ${version}`,
  simulated: (version) => version,
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', multiple: true },
      deliveries: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const deliveries = Number(values.deliveries ?? defaultDeliveries);
  const asked = (values.engine ?? []).map((name) => known.find((engine) => engine === name));
  if (
    asked.includes(undefined) ||
    (values.only !== undefined && !parts.some((part) => part === values.only)) ||
    !(Number.isInteger(deliveries) && deliveries >= 1 && deliveries <= maxDeliveries)
  ) {
    process.stderr.write(usage);
    return 2;
  }
  const machine = describeMachine();
  const { engines, notes } =
    values.only === undefined
      ? await choose(asked.filter((engine) => engine !== undefined))
      : { engines: [], notes: [] };
  const reports: EngineReport[] = [];
  let store: readonly StoreCost[] = [];
  for (const engine of engines) {
    await using agent = await openBenchAgent(engine);
    reports.push(await measure(agent, engine, deliveries));
    if (store.length === 0) {
      say('the store');
      store = measureStore(agent.dir, storeRounds);
    }
  }
  const only = (part: (typeof parts)[number]): boolean =>
    values.only === undefined || values.only === part;
  const mail: MailCost | null = only('mail') ? await measureMail(say) : null;
  const daemon = only('daemon') ? await measureDaemonAlone() : null;
  const report: BenchReport = { machine, engines: reports, store, mail, daemon, notes };
  const text = values.json ? `${JSON.stringify(report, null, 2)}\n` : `${toMarkdown(report)}\n`;
  process.stdout.write(text);
  if (values.out !== undefined) writeFileSync(values.out, text);
  return 0;
}

async function measureDaemonAlone(): Promise<DaemonReport | null> {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-bench-'));
  try {
    return await measureDaemon(dir, say);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Real engines run only where they have no network but loopback. */
async function choose(
  asked: readonly BenchEngine[],
): Promise<{ engines: readonly BenchEngine[]; notes: readonly string[] }> {
  const { enginesDir } = await places();
  const wanted = asked.length > 0 ? asked : (['claude', 'codex'] as const);
  const notes: string[] = [];
  const engines: BenchEngine[] = [];
  const shutOff = await isShutOff();
  for (const engine of wanted) {
    if (engine === 'simulated') engines.push(engine);
    else if (newestPin(enginesDir, engine) === null) {
      notes.push(`${engine} is not installed: \`npm run engines\` fetches it.`);
    } else if (!shutOff) {
      notes.push(`${engine} was not run: this system gives no network of its own to run it in.`);
    } else engines.push(engine);
  }
  if (engines.length === 0) {
    notes.push('Measured is the simulated agent, which answers after 4 ms.');
    engines.push('simulated');
  }
  return { engines, notes };
}

async function measure(
  agent: Awaited<ReturnType<typeof openBenchAgent>>,
  engine: BenchEngine,
  deliveries: number,
): Promise<EngineReport> {
  const { root } = await places();
  say(`${engine}: starting`);
  const live = await (async () => {
    await using rig = await BenchRig.open(agent);
    const counts = { deliveries, blind: Math.ceil(deliveries / blindShare) };
    const series = await sendSeries(rig, counts, (what) => say(`${engine}: ${what}`));
    const { reader, version } = rig.session;
    const diskMs = spreadOf(rig.diskMs.slice(warmUpCount));
    return { series, castPath: rig.castPath, reader, version, diskMs };
  })();
  const { castPath, diskMs, reader, series, version } = live;
  say(`${engine}: reading the recording`);
  const timeline = await readTimeline(castPath, reader, series);
  const leases = timeline.deliveries.flatMap(({ leaseMs }) => (leaseMs === null ? [] : [leaseMs]));
  say(`${engine}: parsing its recordings`);
  const parse = await measureParse(join(root, 'fixtures'), [engine]);
  say(`${engine}: idle sessions`);
  const idle = await measureIdle(
    join(agent.dir, 'idle'),
    engine === 'simulated' ? 'generic' : engine,
    versionLines[engine](version ?? '0.0.0'),
    await firstOutput(castPath),
  );
  return {
    engine,
    version,
    overhead: overheadOf(timeline),
    diskMs,
    leaseMs: spreadOf(leases),
    blindMs: spreadOf(timeline.blindMs),
    blindLost: timeline.blindLost,
    unsettled: series.unsettled,
    parse,
    idle,
  };
}

/** What the agent painted before anything was sent to it: its idle screen. */
async function firstOutput(castPath: string): Promise<string> {
  const { loadCast } = await import('@ostler/engines/recordings');
  const { events } = await loadCast(castPath);
  const first = events.findIndex((event) => event.kind === 'm' && event.data.startsWith('send'));
  return events
    .slice(0, first < 0 ? events.length : first)
    .flatMap((event) => (event.kind === 'o' ? [event.data] : []))
    .join('');
}

function say(what: string): void {
  process.stderr.write(`ostler: bench: ${what}\n`);
}

process.exitCode = await main();
