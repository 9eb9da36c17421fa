import { type AgentSummary, eventPayloadSchemas } from '@ostler/protocol';
import { CodedError, systemClock, type Timer } from '@ostler/runtime';
import type { Command } from 'commander';
import { type DaemonFlags, examples, withDaemonOptions } from '../option-values.js';
import { shown as harmless } from '../output.js';
import { tableLines } from '../table.js';
import { allAgents } from '../whole-lists.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

const escape = '\u001b';
const open = `${escape}[?1049h${escape}[?25l`;
const close = `${escape}[?25h${escape}[?1049l`;
/** No oftener than the local device may ask. */
const relistAfterMs = 1_000;
const head = ['name', 'engine', 'state', 'hold', 'queued', 'latest'];

export function addWatch(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('watch')
      .description('all agents as they change, until Ctrl-C; without a terminal a line per change'),
    'one agent a line, as it changes',
  )
    .addHelpText('after', examples('ostler watch', "ostler watch --json | jq -r '.name, .state'"))
    .action((flags: DaemonFlags) => withDaemon(flags, watch));
}

async function watch({ client, json, output }: DaemonRun): Promise<void> {
  const screen = !json && process.stdout.isTTY;
  const shown = new Map<string, string>();
  let latest: readonly AgentSummary[] = [];
  const show = (agents: readonly AgentSummary[]): void => {
    latest = agents;
    if (screen) process.stdout.write(picture(agents));
    for (const agent of screen ? [] : changedSince(shown, agents)) {
      if (json) output.json(agent);
      else output.text(harmless([timeNow(), ...cellsOf(agent)].join('  ').trimEnd()));
    }
    for (const name of screen ? [] : goneSince(shown, agents)) {
      if (json) output.json({ agentId: name, state: 'gone' });
      else output.text(`${timeNow()}  ${name}  gone`);
    }
  };
  const restore = (): void => void process.stdout.write(close);
  const repaint = (): void => show(latest);
  const terminated = (_name: string, number: number): void => process.exit(128 + number);
  if (screen) {
    process.stdout.write(open);
    process.on('exit', restore);
    process.on('SIGTERM', terminated);
    process.on('SIGHUP', terminated);
    process.stdout.on('resize', repaint);
  }
  try {
    await new Promise<void>((_, reject) => {
      /** Where an event holds the changed ones alone, all are asked for. */
      let timer: Timer | null = null;
      const list = (): void => void allAgents(client).then(({ agents }) => show(agents), reject);
      const relist = (): void => {
        if (timer?.active) return;
        timer = systemClock.setTimer(relistAfterMs, list);
      };
      client.pushed.on('closed', () => reject(new CodedError('DAEMON_GONE', 'the daemon ended')));
      client.pushed.on('event', ({ kind, payload }) => {
        if (kind !== 'agents.changed') return;
        const { data } = eventPayloadSchemas[kind].safeParse(payload);
        if (data?.complete) show(data.agents);
        else if (data) relist();
      });
      list();
    });
  } finally {
    if (screen) restore();
    process.off('exit', restore);
    process.off('SIGTERM', terminated);
    process.off('SIGHUP', terminated);
    process.stdout.off('resize', repaint);
  }
}

function cellsOf({ engine, hold, name, queued, recap, state }: AgentSummary): readonly string[] {
  return [name, engine, state, hold ?? '–', String(queued), recap ?? ''];
}

function picture(agents: readonly AgentSummary[]): string {
  const { columns, rows } = process.stdout;
  const lines = tableLines(head, agents.map(cellsOf));
  const all = [`ostler watch  ${timeNow()}  Ctrl-C ends`, '', ...lines].slice(0, rows - 1);
  const cut = all.map((line) => harmless(line).replaceAll('\n', ' ').slice(0, columns));
  return `${escape}[H${cut.map((line) => `${line}${escape}[K`).join('\r\n')}${escape}[J`;
}

function changedSince(
  shown: Map<string, string>,
  agents: readonly AgentSummary[],
): readonly AgentSummary[] {
  return agents.filter((agent) => {
    const now = JSON.stringify(agent);
    const changed = shown.get(agent.agentId) !== now;
    shown.set(agent.agentId, now);
    return changed;
  });
}

function goneSince(shown: Map<string, string>, agents: readonly AgentSummary[]): readonly string[] {
  const running = new Set(agents.map(({ agentId }) => agentId));
  const gone = [...shown.keys()].filter((agentId) => !running.has(agentId));
  for (const agentId of gone) shown.delete(agentId);
  return gone;
}

function timeNow(): string {
  return new Date(systemClock.nowMs()).toISOString().slice(11, 19);
}
