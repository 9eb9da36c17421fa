import type { DaemonReport } from './daemon-load.js';
import type { IdleCost } from './idle-cost.js';
import type { MailCost } from './mail-cost.js';
import type { Machine } from './meters.js';
import type { OverheadReport } from './overhead.js';
import type { ParseCost } from './parse-cost.js';
import type { Spread } from './statistics.js';
import type { StoreCost } from './store-cost.js';

export interface EngineReport {
  readonly engine: string;
  readonly version: string | null;
  readonly overhead: OverheadReport;
  /** Reservation and dispatch mark, both on the disk before the first byte. */
  readonly diskMs: Spread | null;
  readonly leaseMs: Spread | null;
  readonly blindMs: Spread | null;
  readonly blindLost: number;
  readonly unsettled: number;
  readonly parse: ParseCost | null;
  readonly idle: IdleCost;
}

export interface BenchReport {
  readonly machine: Machine;
  readonly engines: readonly EngineReport[];
  readonly store: readonly StoreCost[];
  /** Null where it was not asked for. */
  readonly mail: MailCost | null;
  /** Null where the system doesn't tell what a process uses. */
  readonly daemon: DaemonReport | null;
  /** What was not measured, and why. */
  readonly notes: readonly string[];
}

/** Aims, reported and never asserted. */
export const aims = {
  ratioMedian: { claude: 1.02, codex: 1.15 },
  ratioP95: 1.3,
  parseRatio: 1.1,
  wakeupsPerSecond: 0,
  mailRatio: 0.8,
} as const;

/** The whole report as Markdown; it reads as plain text as well. */
export function toMarkdown(report: BenchReport): string {
  const { daemon, engines, machine, mail, notes, store } = report;
  return [
    `Node ${machine.node}, ${machine.cores} cores.`,
    ...notes,
    ...engines.flatMap(engineSection),
    ...storeSection(store),
    ...mailSection(mail),
    ...daemonSection(daemon),
  ].join('\n\n');
}

function storeSection(store: readonly StoreCost[]): string[] {
  if (store.length === 0) return [];
  return [
    '## The store',
    'Milliseconds an operation.',
    table(
      ['operation', 'durable against', 'median', 'p95'],
      store.map(({ durability, ms, operation }) => [
        operation,
        durability === 'disk' ? 'a power cut' : 'the end of the process',
        number(ms?.median, 3),
        number(ms?.p95, 3),
      ]),
    ),
  ];
}

function mailSection(mail: MailCost | null): string[] {
  if (!mail) return [];
  const { bareMs, baresPerSecond, foreignWakeMs, ratio, saveMs, savesPerSecond, wakeMs } = mail;
  const row = (what: string, spread: Spread | null): string[] => [
    what,
    number(spread?.median, 3),
    number(spread?.p95, 3),
  ];
  return [
    '## The mailbox',
    `${number(savesPerSecond, 0)} saves a second, each on the disk when it returns, over ${number(baresPerSecond, 0)} bare inserts of the same row by SQLite alone, as durable and in turns with them: ${number(ratio, 2)} (aim ≥ ${aims.mailRatio}; medians ${number((bareMs?.median ?? 0) / (saveMs?.median ?? 1), 2)}).`,
    table(
      ['milliseconds', 'median', 'p95'],
      [
        row(`a saved request (${saveMs?.count ?? 0})`, saveMs),
        row('a bare insert', bareMs),
        row(
          `commit to the end of \`wait\` in another process, its line through a pipe included (${wakeMs?.count ?? 0})`,
          wakeMs,
        ),
        row('the same where a program in plain SQL commits', foreignWakeMs),
      ],
    ),
  ];
}

function daemonSection(daemon: DaemonReport | null): string[] {
  if (!daemon) return [];
  const { busyDaemonPercent, busySessions, load, start, submittedMs, submittedP99Ms } = daemon;
  return [
    '## The daemon',
    `Sessions in one daemon and its host, ${busySessions} of them simulated agents, the others idle programs. Percent of one core over five quiet seconds; resident memory.`,
    table(
      ['sessions', 'daemon MiB', 'host MiB', 'daemon idle %', 'host idle %'],
      load.map((point) => [
        String(point.sessions),
        number(point.daemonRssMiB, 0),
        number(point.hostRssMiB, 0),
        number(point.idleDaemonPercent, 1),
        number(point.idleHostPercent, 1),
      ]),
    ),
    `\`turn.send\` to \`submitted\` with ${busySessions} sessions busy at once: median ${number(submittedMs?.median, 0)} ms, p95 ${number(submittedMs?.p95, 0)} ms, p99 ${number(submittedP99Ms ?? undefined, 0)} ms over ${submittedMs?.count ?? 0} sends, the daemon at ${number(busyDaemonPercent, 0)} % of one core.`,
    `From the start of the process to serving, median and longest of ${start.fullMs?.count ?? 0} starts: ${startOf(start.emptyMs)} with nothing kept, ${startOf(start.fullMs)} with ${start.receipts} receipts and ${start.hosts} hosts to take over (aim 500 ms); all their agents were there after ${startOf(start.adoptedMs)}.`,
  ];
}

const startOf = (spread: Spread | null): string =>
  `${number(spread?.median, 0)} ms (${number(spread?.most, 0)} ms)`;

function engineSection(engine: EngineReport): string[] {
  const { blindLost, blindMs, diskMs, idle, leaseMs, overhead, parse, unsettled } = engine;
  const name = `${engine.engine}${engine.version === null ? '' : ` ${engine.version}`}`;
  const ms = (label: string, spread: Spread | null): string[] => [
    label,
    number(spread?.median, 2),
    number(spread?.p95, 2),
    number(spread?.least, 2),
  ];
  const medianAim: number | undefined = (aims.ratioMedian as Record<string, number>)[engine.engine];
  const faults = [
    ...(overhead.retried > 0 ? [`${overhead.retried} took a second Enter.`] : []),
    ...(unsettled > 0 ? [`${unsettled} began before rest or did not complete.`] : []),
    ...overhead.left.map(({ key, why }) => `Left out: ${key} (${why}).`),
  ];
  return [
    `## ${name}`,
    `${overhead.count} deliveries into the idle agent, accepted by ${evidenceText(overhead.evidence)}.${faults.length > 0 ? ` ${faults.join(' ')}` : ''}`,
    table(
      ['`turnSend` to `accepted`, over the closed loop', 'median', 'p95', 'aim'],
      [
        [
          'all texts',
          number(overhead.ratio?.median, 3),
          number(overhead.ratio?.p95, 3),
          `${medianAim === undefined ? '' : `≤ ${medianAim} median, `}≤ ${aims.ratioP95} p95`,
        ],
        ...overhead.ratioByKind.map(({ kind, ratio }) => [
          kind,
          number(ratio?.median, 3),
          number(ratio?.p95, 3),
          '',
        ]),
      ],
    ),
    table(
      ['milliseconds', 'median', 'p95', 'least'],
      [
        ms('`turnSend` to `accepted`', overhead.totalMs),
        ms('closed loop: what the agent takes', overhead.floorMs),
        ms('— paste to its whole echo', overhead.echoMs),
        ms('— Enter to the evidence', overhead.answerMs),
        ms('overhead', overhead.overheadMs),
        ms('— `turnSend` to first pasted byte', overhead.toPasteMs),
        ms('— — of it reservation and dispatch mark, each on the disk', diskMs),
        ms('— echo to Enter', overhead.echoToEnterMs),
        ms('— evidence to event', overhead.evidenceToEventMs),
        ms('writer lease held', leaseMs),
        ms('blind: paste and Enter in one write, nothing checked', blindMs),
      ],
    ),
    ...(blindLost > 0
      ? [
          `${blindLost} of ${blindLost + (blindMs?.count ?? 0)} blind writes lost their Enter: the text stayed in the composer.`,
        ]
      : []),
    table(['beside deliveries', 'measured', 'aim'], besideRows(parse, idle)),
  ];
}

function besideRows(parse: ParseCost | null, idle: IdleCost): string[][] {
  const kib = (bytes: number): string => `${number(bytes / 1024, 0)} KiB`;
  const perSecond = (value: number | null): string =>
    value === null ? 'not told here' : `${number(value, 2)} a second`;
  return [
    ...(parse === null
      ? []
      : [
          [
            `parse and read over bare parse, as a session does with nothing under way (${parse.recordings} recordings)`,
            number(parse.idleRatio, 2),
            `≤ ${aims.parseRatio}`,
          ],
          [
            `the same, a look and a reading each burst (${parse.bursts} bursts)`,
            number(parse.perBurstRatio, 2),
            '',
          ],
          [`the same, each chunk (${parse.chunks} chunks)`, number(parse.perChunkRatio, 2), ''],
        ]),
    [
      'memory of an idle session, all of it',
      kib(idle.bytesPerSession),
      `a bare terminal: ${kib(idle.bytesPerBareTerminal)}`,
    ],
    [
      'wakeups of an idle session: event loop',
      perSecond(idle.wakeupsPerSecond),
      String(aims.wakeupsPerSecond),
    ],
    ['— all threads', perSecond(idle.allThreadsWakeupsPerSecond), ''],
    ['— timers', perSecond(idle.timersPerSecond), ''],
    ['— looks', perSecond(idle.looksPerSecond), ''],
  ];
}

function evidenceText(evidence: OverheadReport['evidence']): string {
  const parts = Object.entries(evidence).map(([kind, count]) => `\`${kind}\` (${count})`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function number(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
