import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, systemClock } from '@ostler/runtime';
import { CastWriter } from '@ostler/terminal';
import {
  type LoggedRequest,
  type ModelServer,
  startModelServer,
} from '../model-server/model-server.js';
import type { ReceivedText } from '../model-server/received-ledger.js';
import type { RealEngineName } from '../real-engines/pinned-engine.js';
import { prepareRealEngine } from '../real-engines/real-engine.js';
import type { RealEngineLaunch } from '../real-engines/real-engine-request.js';
import { pause } from '../sandbox/pause.js';
import { openSandbox } from '../sandbox/sandbox.js';
import { Rig } from './rig.js';
import { sameLengthScrub } from './same-length-scrub.js';
import type { RigScenario, RigStep } from './scenario.js';

const seeTimeoutMs = 20_000;

export interface ScenarioRun {
  readonly received: readonly ReceivedText[];
  readonly finalScreen: string;
  /** The first step that didn't come true, or null. */
  readonly failed: string | null;
  readonly requests: readonly LoggedRequest[];
}

/**
 * Plays one scenario against a real engine and records it to `outFile`, its paths replaced.
 * Refuses to run with a network. Throws CodedError NOT_OFFLINE and what a launch throws.
 */
export async function runScenario(options: {
  engine: RealEngineName;
  version: string;
  enginesDir: string;
  /** A folder for homes, outside the system's temporary one. */
  roomDir: string;
  scenario: RigScenario;
  outFile: string;
}): Promise<ScenarioRun> {
  const { scenario } = options;
  await using sandbox = openSandbox({ roomDir: options.roomDir, name: 'rig' });
  if (!sandbox.isolated) {
    throw new CodedError(
      'NOT_OFFLINE',
      'A real engine may only be recorded without a network; start this through tools/offline.mjs.',
    );
  }
  const { homeDir, workDir } = sandbox;
  await using model = await startModelServer({ script: scenario.script });
  const { cols = 100, rows = 32, name } = scenario;
  const launch = prepareRealEngine({
    engine: options.engine,
    version: options.version,
    enginesDir: options.enginesDir,
    homeDir,
    workDir,
    modelUrl: model.url,
    ...(scenario.options ? { options: scenario.options } : {}),
  });
  const raw = join(sandbox.dir, 'raw.cast');
  const env = { TERM: 'xterm-256color' };
  await using cast = await CastWriter.open({
    path: raw,
    header: { width: cols, height: rows, title: name, env },
  });
  await using rig = new Rig({ launch, cast, cols, rows });
  await rig.start(launch.args);
  let failed: string | null = null;
  for (const step of scenario.steps) {
    if (await carryOut(step, rig, model, launch)) continue;
    failed = JSON.stringify(step);
    break;
  }
  const finalScreen = await rig.text();
  await rig.stop();
  await cast.close();
  const scrubbed = sameLengthScrub(readFileSync(raw, 'utf8'), [
    [workDir, '/home/dev/project-'],
    [homeDir, '/home/dev-'],
    [sandbox.dir, '/home/dev-room-'],
  ]);
  writeFileSync(options.outFile, scrubbed);
  return { received: model.received(), finalScreen, failed, requests: model.requests() };
}

async function carryOut(
  step: RigStep,
  rig: Rig,
  model: ModelServer,
  launch: RealEngineLaunch,
): Promise<boolean> {
  switch (step.do) {
    case 'paste':
      rig.write(`\u001b[200~${step.text}\u001b[201~`);
      return true;
    case 'keys':
      rig.write(step.keys);
      return true;
    case 'see':
      return rig.until((text) => text.includes(step.text), seeTimeoutMs);
    case 'gone':
      return rig.until((text) => !text.includes(step.text), seeTimeoutMs);
    case 'quiet':
      await rig.quiet(step.ms);
      return true;
    case 'wait':
      await pause(systemClock, step.ms);
      return true;
    case 'mark':
      rig.mark(step.label);
      return true;
    case 'resize':
      rig.resize(step.cols, step.rows);
      return true;
    case 'reached': {
      const seen = new AbortController();
      const reached = model.reached(step.hold).then(() => seen.abort());
      await Promise.race([reached, pause(systemClock, seeTimeoutMs, seen.signal)]);
      return seen.signal.aborted;
    }
    case 'release':
      model.release(step.hold);
      return true;
    case 'restart':
      await rig.restart(step.args ?? launch.args);
      return true;
  }
}

/** Throws CodedError SCENARIO_UNKNOWN. */
export function findScenario(scenarios: readonly RigScenario[], name: string): RigScenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found) return found;
  const known = scenarios.map((scenario) => scenario.name).join(', ');
  throw new CodedError('SCENARIO_UNKNOWN', `There is no scenario ${name}; there are: ${known}.`);
}
