import { eventPayloadSchemas, type OstlerEvent, type ResyncFrame } from '@ostler/protocol';
import { CodedError, systemClock } from '@ostler/runtime';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConnectOptions } from '../daemon-client.js';
import { findAgent } from '../find-agent.js';
import {
  type DaemonFlags,
  examples,
  secondsAsMs,
  wholeNumber,
  withDaemonOptions,
} from '../option-values.js';
import { inputOf } from '../receipt-view.js';
import { allAgents } from '../whole-lists.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

interface EventsFlags extends DaemonFlags {
  readonly agent?: string;
  readonly kind?: string;
  readonly count?: number;
  readonly timeout?: number;
  readonly resume?: ConnectOptions['resume'];
}

export function addEvents(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('events')
      .description('print what happens, as it happens, until Ctrl-C')
      .option('--agent <name>', 'only of one agent')
      .addOption(
        new Option('--kind <kind>', 'only of one kind').choices(Object.keys(eventPayloadSchemas)),
      )
      .addOption(
        new Option(
          '--resume <instance:event>',
          'serverInstanceId and eventId of the last one seen: those after it come first',
        ).argParser(cursor),
      )
      .option('--count <n>', 'end after so many', wholeNumber(1, 1_000_000))
      .option('--timeout <seconds>', 'end with 4 after so long', secondsAsMs(86_400)),
    'one event a line, as it came',
  )
    .addHelpText(
      'after',
      examples('ostler events', 'ostler events --kind turn.done --agent work --count 1 --json'),
    )
    .action((flags: EventsFlags) => {
      const feed = new Feed();
      return withDaemon(flags, (run) => events(run, flags, feed), {
        ...(flags.resume && { resume: flags.resume }),
        prepare: ({ pushed }) => {
          pushed.on('event', (event) => feed.push(event));
          pushed.on('resync', (frame) => feed.push(frame));
        },
      });
    });
}

type Told = OstlerEvent | ResyncFrame;

/** Keeps what is told before anybody takes it. */
class Feed {
  #early: Told[] = [];
  #take: ((told: Told) => void) | null = null;

  push(told: Told): void {
    if (this.#take) this.#take(told);
    else this.#early.push(told);
  }

  to(take: (told: Told) => void): void {
    this.#take = take;
    for (const told of this.#early.splice(0)) take(told);
  }
}

function cursor(value: string): NonNullable<ConnectOptions['resume']> {
  const [, serverInstanceId, eventId] = /^(\S+):(\d{1,15})$/.exec(value) ?? [];
  if (serverInstanceId !== undefined) return { serverInstanceId, cursor: Number(eventId) };
  throw new InvalidArgumentError('give INSTANCE:EVENT, as serverInstanceId and eventId say.');
}

async function events(
  { client, json, output }: DaemonRun,
  flags: EventsFlags,
  feed: Feed,
): Promise<void> {
  const names = new Map<string, string>();
  for (const { agentId, name } of (await allAgents(client)).agents) {
    names.set(agentId, name);
  }
  const only = flags.agent === undefined ? null : await findAgent(client, flags.agent);
  let left = flags.count ?? Infinity;
  await new Promise<void>((resolve, reject) => {
    const gone = (): void => reject(new CodedError('DAEMON_GONE', 'the daemon ended'));
    client.pushed.on('closed', gone);
    if (client.closed) gone();
    if (flags.timeout !== undefined) {
      systemClock.setTimer(flags.timeout, () =>
        reject(new CodedError('TIMEOUT', 'the time is over')),
      );
    }
    feed.to((told) => {
      if (told.type === 'resync') {
        if (json) output.json(told);
        else output.text(`events are missing here (${told.reason}): look at ostler agents`);
        return;
      }
      if (only !== null && told.agentId !== only.agentId) return;
      if (flags.kind !== undefined && told.kind !== flags.kind) return;
      if (left <= 0) return;
      if (json) output.json(told);
      else output.text(lineOf(told, names.get(told.agentId ?? '') ?? told.agentId ?? '–'));
      left -= 1;
      if (left === 0) resolve();
    });
  });
}

function lineOf(event: OstlerEvent, name: string): string {
  const time = new Date(systemClock.nowMs()).toISOString().slice(11, 23);
  return `${time}  ${event.kind.padEnd(16)}  ${name}  ${summaryOf(event)}`.trimEnd();
}

/** One line; what an agent or a person wrote is left out. */
function summaryOf({ kind, payload }: OstlerEvent): string {
  if (kind === 'receipt.updated') {
    const { data } = eventPayloadSchemas[kind].safeParse(payload);
    if (!data) return '';
    const { error, idempotencyKey, state } = data.receipt;
    return [idempotencyKey, state, inputOf(data.receipt), error?.code ?? ''].join(' ').trimEnd();
  }
  if (kind === 'turn.done') {
    return eventPayloadSchemas[kind].safeParse(payload).data?.outcome ?? '';
  }
  if (kind === 'agents.changed') {
    const { data } = eventPayloadSchemas[kind].safeParse(payload);
    return (data?.agents ?? []).map(({ name, state }) => `${name} ${state}`).join(', ');
  }
  if (kind === 'turn.error' || kind === 'agent.error') {
    return eventPayloadSchemas[kind].safeParse(payload).data?.code ?? '';
  }
  return '';
}
