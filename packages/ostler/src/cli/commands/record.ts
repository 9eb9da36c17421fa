import { resolve } from 'node:path';
import type { TerminalFrame } from '@ostler/protocol';
import { CodedError, systemClock } from '@ostler/runtime';
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.js';
import { findAgent, targetOf } from '../find-agent.js';
import { type DaemonFlags, examples, secondsAsMs, withDaemonOptions } from '../option-values.js';
import { type DaemonRun, withDaemon } from '../with-daemon.js';

interface RecordFlags extends DaemonFlags {
  readonly for?: number;
}

export function addRecord(ostler: Command): void {
  withDaemonOptions(
    ostler
      .command('record')
      .description("record an agent's terminal from now on (asciicast v2), until Ctrl-C or its end")
      .argument('<name>', "the agent's name or id")
      .argument('<file>', 'a new file; it will hold everything that is shown')
      .option('--for <seconds>', 'end after so long', secondsAsMs(86_400)),
  )
    .addHelpText(
      'after',
      examples(
        'ostler record work session.cast',
        'ostler record work session.cast --for 60 --json',
      ),
    )
    .action((name: string, file: string, flags: RecordFlags) =>
      withDaemon(flags, (run) => record(run, name, resolve(file), flags.for)),
    );
}

async function record(
  { client, json, output }: DaemonRun,
  name: string,
  path: string,
  forMs: number | undefined,
): Promise<void> {
  const { CastWriter } = await import('@ostler/terminal');
  const agent = await findAgent(client, name);
  const early: TerminalFrame[] = [];
  let take = (frame: TerminalFrame): void => void early.push(frame);
  let finish: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((done) => (finish = done));
  client.pushed.on('terminal', (frame) => take(frame));
  client.pushed.on('closed', () => finish('daemon_gone'));
  const attached = await client.call('agent.attach', { ...targetOf(agent), readOnly: true });
  const { cols, rows } = attached;
  const header = { width: cols, height: rows, env: { TERM: 'xterm-256color' }, title: agent.name };
  const cast = await CastWriter.open({ path, header });
  const paint = (base64: string): void => {
    cast.output(Buffer.from('\u001b[0m\u001b[H\u001b[2J'));
    cast.output(Buffer.from(base64, 'base64'));
  };
  paint(attached.paint);
  take = (frame) => {
    if (frame.attachId !== attached.attachId) return;
    if (frame.kind === 'output') cast.output(Buffer.from(frame.data, 'base64'));
    else if (frame.kind === 'size') cast.resize(frame.cols, frame.rows);
    else if (frame.kind === 'lost') paint(frame.paint);
    else finish('agent_gone');
    if (cast.state.kind === 'stopped') finish('write_failed');
  };
  for (const frame of early.splice(0)) take(frame);
  // Ctrl-C is how a recording ends: it is closed whole.
  process.removeAllListeners('SIGINT');
  process.once('SIGINT', () => finish('interrupted'));
  process.once('SIGTERM', () => finish('interrupted'));
  if (forMs !== undefined) systemClock.setTimer(forMs, () => finish('time_over'));
  if (!json) output.text(`recording ${agent.name} into ${path}; Ctrl-C ends it`);
  const reason = await ended;
  const { state } = cast;
  await cast.close();
  if (state.kind === 'stopped') {
    throw new CodedError('CAST_STOPPED', `${path} could not be written on (${state.reason})`);
  }
  if (json) output.json({ recorded: path, agentId: agent.agentId, cols, rows, ended: reason });
  else output.text(`recorded ${path}`);
  if (reason === 'daemon_gone') process.exitCode = exitCodes.noDaemon;
}
