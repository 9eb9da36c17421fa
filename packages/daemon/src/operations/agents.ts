import { isAbsolute } from 'node:path';
import type { RequestOf, ResultOf } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { Caller } from '../caller.js';

const defaultCols = 100;
const defaultRows = 32;

export function list({ parts: { service } }: Caller): ResultOf<'agents.list'> {
  return { machineId: service.machineId, agents: service.agents() };
}

export function status(
  { parts: { service } }: Caller,
  { agentId }: RequestOf<'status'>,
): ResultOf<'status'> {
  const agent = service.agent(agentId);
  const { hold, queued, state } = agent.summary();
  const open = agent.openQuestion;
  return {
    state,
    queued,
    ...(hold === undefined ? {} : { hold }),
    openQuestion: open && { requestId: open.requestId, questions: open.question.prompts },
  };
}

export async function launch(
  { parts: { metrics, service } }: Caller,
  request: RequestOf<'agent.launch'>,
): Promise<ResultOf<'agent.launch'>> {
  const { cleanEnv = false, cols = defaultCols, cwd, env = {}, rows = defaultRows } = request;
  const { args, castPath, command, engine, isolate, name } = request;
  if (!isAbsolute(cwd)) throw new CodedError('INVALID_REQUEST', 'cwd: must be an absolute path');
  const agent = await service.launch({
    engine,
    name,
    cwd,
    env: { ...(cleanEnv ? {} : ownEnvironment()), ...env },
    cols,
    rows,
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    ...(castPath === undefined ? {} : { castPath }),
    ...(isolate === undefined ? {} : { isolate }),
  });
  metrics.add('agents_launched');
  return {
    machineId: service.machineId,
    agentId: agent.agentId,
    name: agent.name,
    version: agent.version,
    certificate: agent.certificate,
  };
}

export async function sessions({
  parts: { service },
}: Caller): Promise<ResultOf<'agent.sessions'>> {
  return { machineId: service.machineId, sessions: await service.engineSessions() };
}

export async function close(
  { parts: { service } }: Caller,
  { agentId }: RequestOf<'agent.close'>,
): Promise<ResultOf<'agent.close'>> {
  await service.closeAgent(agentId);
  return {};
}

export function resize(
  { parts: { service } }: Caller,
  { agentId, cols, rows }: RequestOf<'agent.resize'>,
): ResultOf<'agent.resize'> {
  service.agent(agentId).terminal.resize(cols, rows);
  return {};
}

export async function screen(
  { parts: { service } }: Caller,
  { agentId }: RequestOf<'agent.screen'>,
): Promise<ResultOf<'agent.screen'>> {
  const agent = service.agent(agentId);
  const snapshot = await agent.terminal.look();
  const reading = agent.reader.read(snapshot, agent.sideSignals());
  const { busy, composer, hold, queue, readable } = reading;
  return {
    rows: snapshot.rows.map(({ text }) => text),
    cols: snapshot.cols,
    cursor: snapshot.cursor,
    modes: snapshot.modes,
    reading: {
      readable,
      hold,
      busy,
      composer: composer && { draft: composer.draft, ghost: composer.ghost },
      queue,
    },
  };
}

function ownEnvironment(): Record<string, string> {
  const set = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(set);
}
