import { isAbsolute } from 'node:path';
import type { RequestOf, ResultOf } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { Caller } from '../caller.js';
import { fitting, pageOf } from '../fitting.js';

const defaultCols = 100;
const defaultRows = 32;
/** Type, request id and the names of the fields. */
const labelBytes = 256;

export function list(
  { parts: { service } }: Caller,
  { after }: RequestOf<'agents.list'>,
): ResultOf<'agents.list'> {
  const { complete, items } = pageOf(service.agents(), after);
  return { machineId: service.machineId, agents: items, complete };
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

export async function sessions(
  { parts: { service } }: Caller,
  { after }: RequestOf<'agent.sessions'>,
): Promise<ResultOf<'agent.sessions'>> {
  const { complete, items } = pageOf(await service.engineSessions(), after);
  return { machineId: service.machineId, sessions: items, complete };
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
  const beside = {
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
  // Where one frame doesn't take them all, the lowest are the ones to see: there the composer is.
  const fromBelow = snapshot.rows.map(({ text }) => text).reverse();
  const usedBytes = Buffer.byteLength(JSON.stringify(beside)) + labelBytes;
  const rows = [...fitting(fromBelow, usedBytes)].reverse();
  return { firstRow: fromBelow.length - rows.length, rows, ...beside };
}

function ownEnvironment(): Record<string, string> {
  const set = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(set);
}
