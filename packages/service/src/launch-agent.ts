import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ControllerLimits } from '@ostler/controller';
import type { Engine } from '@ostler/engines';
import { type Clock, type Ids, type Logger } from '@ostler/runtime';
import { AgentTerminal } from '@ostler/terminal';
import { AgentSession } from './agent-session.js';
import type { ReceiptsLedger } from './receipts-ledger.js';

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
}

interface LaunchSurroundings {
  readonly sessionsDir: string;
  readonly machineId: string;
  readonly ledger: ReceiptsLedger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limits: Partial<ControllerLimits>;
}

/** Plans, starts and opens one agent; on a failure nothing of it is left. */
export async function launchAgent(
  around: LaunchSurroundings,
  engine: Engine,
  request: LaunchAgentRequest & { readonly name: string },
  onChanged: () => void,
): Promise<AgentSession> {
  const agentId = around.ids.uuid();
  const sessionDir = join(around.sessionsDir, agentId);
  const removeDir = (): void => rmSync(sessionDir, { recursive: true, force: true });
  const engineRequest = {
    args: request.args ?? [],
    cwd: request.cwd,
    env: request.env,
    sessionDir,
    ...(request.command === undefined ? {} : { command: request.command }),
  };
  try {
    mkdirSync(sessionDir, { recursive: true, mode: 0o700 });
    const plan = await engine.planLaunch(engineRequest);
    const launchedAtMs = around.clock.nowMs();
    const terminal = await AgentTerminal.launch({
      file: plan.file,
      args: plan.args,
      env: plan.env,
      cwd: request.cwd,
      cols: request.cols,
      rows: request.rows,
      clock: around.clock,
      logger: around.logger,
      ...(request.castPath === undefined ? {} : { castPath: request.castPath }),
    });
    try {
      return await AgentSession.open({
        ...around,
        agentId,
        name: request.name,
        engine,
        plan,
        request: engineRequest,
        terminal,
        launchedAtMs,
        onChanged,
        onClosed: removeDir,
      });
    } catch (failure) {
      await terminal.close();
      throw failure;
    }
  } catch (failure) {
    removeDir();
    throw failure;
  }
}
