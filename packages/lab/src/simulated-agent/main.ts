#!/usr/bin/env node
import { appendFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ControlLink } from './control-link.js';
import { parseScript } from './parse-script.js';
import { realClock } from './real-clock.js';
import { SimulatedAgent } from './simulated-agent.js';
import type { TruthFields } from './truth.js';

const usage = `Usage: main.js [--script FILE | --script-json JSON] [--record FILE] [--truth FILE] [--control SOCKET] [--session-id ID]
  --script       what the agent does, as a JSON file; --script-json as JSON itself
  --record       where it writes its session record (JSONL)
  --truth        where it writes what really happened (JSONL)
  --session-id   what its record calls the session
  --control      a Unix socket somebody listens on: takes commands, is told the truth
`;

function main(): void {
  const { values } = parseArgs({
    options: {
      script: { type: 'string' },
      'script-json': { type: 'string' },
      record: { type: 'string' },
      truth: { type: 'string' },
      control: { type: 'string' },
      'session-id': { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const script = parseScript(
    values.script ? readFileSync(values.script, 'utf8') : (values['script-json'] ?? '{}'),
  );
  const { stdin, stdout } = process;
  let seq = 0;
  const truthPath = values.truth;
  const truth = (fields: TruthFields): void => {
    seq += 1;
    const line = `${JSON.stringify({ seq, atMs: realClock.nowMs(), ...fields })}\n`;
    if (truthPath) appendFileSync(truthPath, line);
    link?.tell(line);
  };
  const agent = new SimulatedAgent(script, {
    clock: realClock,
    cols: stdout.columns ?? 80,
    rows: stdout.rows ?? 24,
    recordPath: values.record ?? path.join(tmpdir(), `simulated-agent-${process.pid}.jsonl`),
    ...(values['session-id'] === undefined ? {} : { sessionId: values['session-id'] }),
    write: (data) => void stdout.write(data),
    setReading: (on) => void (on ? stdin.resume() : stdin.pause()),
    appendRecord: (file, data) => appendFileSync(file, data),
    truth,
    exit: (code) => {
      process.exitCode = code;
      stdin.destroy();
      link?.close();
      stdout.write('', () => process.exit(code));
    },
    crash: () => process.kill(process.pid, 'SIGKILL'),
  });
  const link = values.control
    ? new ControlLink(values.control, { onAction: (action) => agent.act(action), truth })
    : null;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', (data: Buffer) => agent.input(data));
  stdout.on('resize', () => agent.resize(stdout.columns, stdout.rows));
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    process.on(signal, () => {
      truth({ event: 'left', how: signal });
      agent.stop();
      process.exit(0);
    });
  }
  // A stalled stdin must not end the program.
  const alive = (): void => void realClock.setTimer(60_000, alive);
  alive();
  agent.start();
}

try {
  main();
} catch (failure) {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exit(2);
}
