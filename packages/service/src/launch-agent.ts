import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ControllerLimits, PastedNote, RestoredInput } from '@ostler/controller';
import type { Engine, LaunchPlan, LaunchRequest } from '@ostler/engines';
import type { Clock, Ids, Logger } from '@ostler/runtime';
import { AgentTerminal, type AgentTerminalLaunchOptions } from '@ostler/terminal';
import { AgentSession, type SessionTerminal } from './agent-session.js';
import type { ReceiptsLedger } from './receipts-ledger.js';
import { type LeftNote, restoredInputs } from './restored-inputs.js';

export interface LaunchAgentRequest {
  readonly engine: string;
  /** Shown to people; unique among running agents. One is made up where it is left out. */
  readonly name?: string;
  /** Executable by path or name; the engine's usual one where left out. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** An existing directory. */
  readonly cwd: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  /** A new file that takes an asciicast v2 recording of the session. */
  readonly castPath?: string;
  /** True: a host process of its own, where there are hosts. */
  readonly isolate?: boolean;
}

/** Everything a later process needs to go on with a session whose terminal has outlived this one. */
export interface SessionRecord {
  readonly agentId: string;
  readonly name: string;
  readonly engine: string;
  readonly plan: LaunchPlan;
  readonly request: LaunchRequest;
  readonly launchedAtMs: number;
}

export interface OpenedTerminal {
  readonly terminal: SessionTerminal;
  /** Keeps the note where the terminal lives, in front of what is written after it. */
  readonly keepNote?: (note: PastedNote) => void;
}

/** A terminal that was there before this process. */
export interface AdoptedTerminal extends OpenedTerminal {
  readonly left: LeftNote;
}

/** Where terminals come from: this process, or one that outlives it. */
export interface TerminalSource {
  /** Errors as in `AgentTerminal.launch`. */
  launch(
    options: AgentTerminalLaunchOptions,
    record: SessionRecord,
    isolate: boolean,
  ): Promise<OpenedTerminal>;
}

/** The agent ends with this process. */
export const inProcessTerminals: TerminalSource = {
  launch: async (options) => ({ terminal: await AgentTerminal.launch(options) }),
};

export interface SessionSurroundings {
  readonly sessionsDir: string;
  readonly machineId: string;
  readonly ledger: ReceiptsLedger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: Partial<ControllerLimits>;
  readonly terminals: TerminalSource;
  /** Given to every agent, over its own environment. */
  readonly agentEnv?: Readonly<Record<string, string>>;
}

/** Plans, starts and opens one agent; on a failure nothing of it is left. */
export async function launchAgent(
  around: SessionSurroundings,
  engine: Engine,
  request: LaunchAgentRequest & { readonly name: string },
  onChanged: (agentId: string) => void,
): Promise<AgentSession> {
  const agentId = around.ids.uuid();
  const sessionDir = join(around.sessionsDir, agentId);
  const removeDir = (): void => rmSync(sessionDir, { recursive: true, force: true });
  const engineRequest: LaunchRequest = {
    args: request.args ?? [],
    cwd: request.cwd,
    env: request.env,
    sessionDir,
    ...(request.command === undefined ? {} : { command: request.command }),
  };
  try {
    mkdirSync(sessionDir, { recursive: true, mode: 0o700 });
    const planned = await engine.planLaunch(engineRequest);
    const env = { ...environmentOf(agentId, engine.id, planned), ...around.agentEnv };
    const plan: LaunchPlan = { ...planned, env };
    const launchedAtMs = around.clock.nowMs();
    const record: SessionRecord = {
      agentId,
      name: request.name,
      engine: engine.id,
      plan,
      request: planned.env === engineRequest.env ? { ...engineRequest, env } : engineRequest,
      launchedAtMs,
    };
    const opened = await around.terminals.launch(
      {
        file: plan.file,
        args: plan.args,
        env: plan.env,
        cwd: request.cwd,
        cols: request.cols,
        rows: request.rows,
        clock: around.clock,
        logger: around.logger,
        ...(request.castPath === undefined ? {} : { castPath: request.castPath }),
      },
      record,
      request.isolate ?? false,
    );
    return await openSession(around, engine, record, opened, onChanged);
  } catch (failure) {
    removeDir();
    throw failure;
  }
}

/** What the engine planned, and who the agent is: never another agent's name by inheritance. */
function environmentOf(
  agentId: string,
  engine: string,
  { env, sessionId }: LaunchPlan,
): Record<string, string> {
  const { OSTLER_SESSION_ID: _inherited, ...rest } = env;
  return {
    ...rest,
    OSTLER_AGENT_ID: agentId,
    OSTLER_ENGINE: engine,
    ...(sessionId === undefined ? {} : { OSTLER_SESSION_ID: sessionId }),
  };
}

/** Goes on with a session that an earlier process left running. The terminal is ours from here on. */
export async function adoptAgent(
  around: SessionSurroundings,
  engine: Engine,
  record: SessionRecord,
  opened: AdoptedTerminal,
  onChanged: (agentId: string) => void,
): Promise<AgentSession> {
  const { ledger } = around;
  const { left, terminal } = opened;
  const { inputs, unwritten } = restoredInputs(
    ledger.unresolved(record.agentId),
    terminal.identity,
    left,
    (deliveryId) => ledger.ordinalOf(deliveryId),
  );
  const message = 'the server was restarted before anything was written; send it again';
  for (const deliveryId of unwritten) {
    ledger.change(deliveryId, { state: 'rejected', error: { code: 'DAEMON_RESTART', message } });
  }
  return await openSession(around, engine, record, { ...opened, restored: inputs }, onChanged);
}

async function openSession(
  around: SessionSurroundings,
  engine: Engine,
  record: SessionRecord,
  opened: OpenedTerminal & { readonly restored?: readonly RestoredInput[] },
  onChanged: (agentId: string) => void,
): Promise<AgentSession> {
  const { keepNote, restored, terminal } = opened;
  const { sessionDir } = record.request;
  try {
    return await AgentSession.open({
      ...around,
      ...record,
      engine,
      terminal,
      onChanged: () => onChanged(record.agentId),
      onClosed: () => rmSync(sessionDir, { recursive: true, force: true }),
      ...(restored === undefined ? {} : { restored }),
      ...(keepNote === undefined ? {} : { keepNote }),
    });
  } catch (failure) {
    await terminal.close();
    throw failure;
  }
}
