#!/usr/bin/env node
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { RealEngineName } from '../real-engines/pinned-engine.js';
import { claudeScenarios } from './claude-scenarios.js';
import { codexScenarios } from './codex-scenarios.js';
import { findScenario, runScenario } from './run-scenario.js';

const usage =
  'record-scenario --engine claude|codex --version V --scenario NAME --out FILE.cast [--engines DIR] [--room DIR] [--requests FILE] [--show]';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string' },
      version: { type: 'string' },
      scenario: { type: 'string' },
      out: { type: 'string' },
      engines: { type: 'string', default: '.engines' },
      room: { type: 'string', default: '.ostler/lab' },
      requests: { type: 'string' },
      show: { type: 'boolean', default: false },
    },
  });
  const { engine, version, scenario, out } = values;
  if ((engine !== 'claude' && engine !== 'codex') || !version || !scenario || !out) {
    throw new Error(`Usage: ${usage}`);
  }
  const name: RealEngineName = engine;
  mkdirSync(dirname(resolve(out)), { recursive: true });
  const run = await runScenario({
    engine: name,
    version,
    enginesDir: resolve(values.engines),
    roomDir: resolve(values.room),
    outFile: resolve(out),
    scenario: findScenario(engine === 'claude' ? claudeScenarios : codexScenarios, scenario),
  });
  if (values.requests) writeFileSync(values.requests, JSON.stringify(run.requests, null, 1));
  if (values.show || run.failed !== null) process.stdout.write(`${run.finalScreen}\n`);
  const { failed, received } = run;
  process.stdout.write(`${JSON.stringify({ out, failed, received })}\n`);
  if (failed !== null) process.exitCode = 1;
}

main().catch((failure: unknown) => {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
});
