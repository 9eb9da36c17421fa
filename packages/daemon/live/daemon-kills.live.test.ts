import { join } from 'node:path';
import {
  type BusyRule,
  defaultRoomDir,
  openSandbox,
  prepareRealEngine,
  simulatedLaunch,
  startModelServer,
} from '@ostler/lab';
import { Disposables } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { DaemonProcess } from '../src/testing/daemon-process.js';
import { killRun, randomSeed, type TargetAgent } from '../src/testing/kill-run.js';
import { RawClient } from '../src/testing/raw-client.js';

/** `OSTLER_KILLS=200` for the whole of it. */
const kills = Number(process.env['OSTLER_KILLS'] ?? 15);
const simulatedCount = 10;
const roomDir = defaultRoomDir();
const enginesDir = join(roomDir, '..', '..', '.engines');
const busyRules: readonly BusyRule[] = ['steering', 'native_queue', 'native_input', 'daemon_queue'];
const pins = [
  { engine: 'claude', version: '2.1.328' },
  { engine: 'codex', version: '0.169.0' },
] as const;

test(`a daemon killed ${kills} times while ${simulatedCount} simulated and ${pins.length} real agents work`, {
  timeout: 180_000 + kills * 6_000,
}, async () => {
  await using owned = new Disposables();
  const sandbox = owned.own(openSandbox({ roomDir, name: 'kills' }));
  const stateDir = join(sandbox.dir, 'state');
  const daemon = await DaemonProcess.start(stateDir);
  const client = await RawClient.local(daemon.socketPath);
  const agents: TargetAgent[] = [];
  const launch = async (
    name: string,
    request: object,
    target: Pick<TargetAgent, 'everyMs' | 'received'>,
  ): Promise<void> => {
    const launched = await client.call('agent.launch', { name, ...request, cleanEnv: true });
    if (launched['error']) throw new Error(JSON.stringify(launched['error']));
    agents.push({ agentId: String(launched['agentId']), name, ...target });
  };
  for (let index = 0; index < simulatedCount; index += 1) {
    const busyRule = busyRules[index % busyRules.length] ?? 'steering';
    const simulated = owned.own(await simulatedLaunch({ script: { busyRule } }));
    const { args, command, control, cwd, engine, env } = simulated;
    await launch(
      `simulated-${index}`,
      { engine, command, args, cwd, env },
      {
        everyMs: 400,
        received: (text) =>
          control.received().find((received) => received.text === text)?.count ?? 0,
      },
    );
  }
  for (const pin of pins) {
    const room = owned.own(openSandbox({ roomDir, name: `kills-${pin.engine}` }));
    const model = owned.own(await startModelServer({ script: {} }));
    const { homeDir, workDir } = room;
    const prepared = prepareRealEngine({
      ...pin,
      ...{ enginesDir, homeDir, workDir, modelUrl: model.url, options: {} },
    });
    const { args, command, cwd, env } = prepared;
    await launch(
      pin.engine,
      { engine: pin.engine, command, args, cwd, env },
      {
        everyMs: 900,
        received: (text) => model.received().find((received) => received.text === text)?.count ?? 0,
      },
    );
  }
  client[Symbol.dispose]();
  const seed = randomSeed();
  const report = await killRun({
    ...{ stateDir, daemon, agents, kills, seed },
    maxLifeMs: 1_500,
    restMs: 40_000,
  });
  const last = await RawClient.local(report.daemon.socketPath);
  const listed = await last.call('agents.list');
  const list = listed['agents'] as readonly { name: string; state: string }[];
  const machineId = listed['machineId'];
  for (const { agentId } of agents) await last.call('agent.close', { machineId, agentId });
  last[Symbol.dispose]();
  await report.daemon.kill();
  const { faults, daemon: _, ...figures } = report;
  process.stdout.write(`kills: ${JSON.stringify({ seed, ...figures })}\n`);
  expect({ seed, faults }).toEqual({ seed, faults: [] });
  expect(list.map(({ name, state }) => ({ name, gone: state === 'gone' }))).toEqual(
    agents.map(({ name }) => ({ name, gone: false })),
  );
});
