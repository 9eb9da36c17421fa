#!/usr/bin/env node
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CodedError } from '@ostler/runtime';
import { startModelServer } from './model-server.js';
import type { ModelScript } from './script.js';

const usage = 'model-server-main --script FILE [--port 0] [--log FILE]';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      script: { type: 'string' },
      port: { type: 'string', default: '0' },
      log: { type: 'string' },
    },
  });
  const server = await startModelServer({
    script: values.script === undefined ? {} : readScript(values.script),
    port: Number(values.port),
  });
  const { log } = values;
  if (log !== undefined) {
    server.events.on('request', (entry) => appendFileSync(log, `${JSON.stringify(entry)}\n`));
  }
  process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`);
  process.once('SIGTERM', () => void server.close());
  process.once('SIGINT', () => void server.close());
}

/** The server checks the script itself. */
function readScript(file: string): ModelScript {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ModelScript;
  } catch (cause) {
    throw new CodedError(
      'MODEL_SCRIPT_UNREADABLE',
      `${file} can't be read as JSON. Usage: ${usage}`,
      {
        cause,
      },
    );
  }
}

main().catch((failure: unknown) => {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
});
