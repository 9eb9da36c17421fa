import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '@ostler/engines';
import { isCoded } from '@ostler/runtime';
import { builtInEngines } from '../../built-in-engines.js';
import { joinEngines, loadEngineModule } from '../engine-module.js';
import { type Finding, messageOf } from './finding.js';

/** Any program may be run as this one, so there is nothing to look for. */
const anyProgram = 'generic';

/** Which engines are installed, in which version, and whether recordings of that version exist. */
export async function engineFindings(modules: readonly string[]): Promise<readonly Finding[]> {
  const loaded: Engine[] = [];
  const broken: Finding[] = [];
  for (const path of modules) {
    try {
      loaded.push(...(await loadEngineModule(path)));
    } catch (failure) {
      const todo = 'mend the module, or leave it out';
      broken.push({ what: 'engine module', level: 'fault', saw: messageOf(failure), todo });
    }
  }
  const engines = joinEngines(builtInEngines, loaded).filter(({ id }) => id !== anyProgram);
  const found = await Promise.all(engines.map(engineFinding));
  return [...broken, ...found];
}

async function engineFinding(engine: Engine): Promise<Finding> {
  const what = `engine ${engine.id}`;
  const sessionDir = mkdtempSync(join(tmpdir(), 'ostler-doctor-'));
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  try {
    const plan = await engine.planLaunch({ args: [], cwd: process.cwd(), env, sessionDir });
    const { version } = plan;
    const saw = `${version ?? 'unknown version'}, ${plan.file}`;
    if (version !== null && (engine.verifiedVersions ?? []).includes(version)) {
      return { what, level: 'ok', saw: `${saw}, verified by recordings` };
    }
    const verified = engine.verifiedVersions?.join(', ');
    const todo =
      verified === undefined
        ? 'no version has been recorded; its screen is read conservatively'
        : `not recorded, so read conservatively; recorded are ${verified}`;
    return { what, level: 'note', saw, todo };
  } catch (failure) {
    const missing = isCoded(failure, 'ENGINE_NOT_FOUND');
    const saw = missing ? 'not installed' : messageOf(failure);
    const todo = missing ? 'install it where it is on PATH, if you want it' : 'use another version';
    return { what, level: 'note', saw, todo };
  } finally {
    rmSync(sessionDir, { recursive: true, force: true });
  }
}
