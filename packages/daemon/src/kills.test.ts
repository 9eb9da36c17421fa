import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BusyRule, simulatedLaunch } from '@ostler/lab';
import { Disposables } from '@ostler/runtime';
import { expect, test } from 'vitest';
import { DaemonProcess } from './testing/daemon-process.js';
import { killRun, randomSeed, type TargetAgent } from './testing/kill-run.js';
import { RawClient } from './testing/raw-client.js';

const busyRules: readonly BusyRule[] = ['steering', 'native_queue', 'native_input'];
const kills = Number(process.env['OSTLER_KILLS'] ?? 12);

test(`a daemon killed ${kills} times in the middle of traffic`, {
  timeout: 30_000 + kills * 4_000,
}, async () => {
  await using owned = new Disposables();
  const dir = mkdtempSync(join(tmpdir(), 'ostler-kills-'));
  owned.defer(() => rmSync(dir, { recursive: true, force: true }));
  const stateDir = join(dir, 'state');
  const daemon = await DaemonProcess.start(stateDir);
  const client = await RawClient.local(daemon.socketPath);
  const agents: TargetAgent[] = [];
  for (const [index, busyRule] of busyRules.entries()) {
    const simulated = owned.own(await simulatedLaunch({ script: { busyRule } }));
    const { args, command, control, cwd, engine, env } = simulated;
    const name = `agent-${index}`;
    const launched = await client.call('agent.launch', {
      ...{ name, engine, command, args, cwd, env },
      cleanEnv: true,
    });
    agents.push({
      agentId: String(launched['agentId']),
      name,
      everyMs: 40,
      received: (text) => control.received().find((received) => received.text === text)?.count ?? 0,
    });
  }
  client[Symbol.dispose]();
  const seed = randomSeed();
  const report = await killRun({
    ...{ stateDir, daemon, agents, kills, seed },
    maxLifeMs: 400,
    restMs: 10_000,
  });
  const last = await RawClient.local(report.daemon.socketPath);
  const list = (await last.call('agents.list'))['agents'] as readonly { state: string }[];
  for (const { agentId } of agents) {
    await last.call('agent.close', { agentId, machineId: (await last.hello())['machineId'] });
  }
  last[Symbol.dispose]();
  await report.daemon.kill();
  const { faults, ...figures } = report;
  process.stdout.write(`kills: ${JSON.stringify({ seed, ...figures, daemon: undefined })}\n`);
  expect({ seed, faults }).toEqual({ seed, faults: [] });
  expect(list.map(({ state }) => state)).not.toContain('gone');
  expect(list).toHaveLength(agents.length);
});
