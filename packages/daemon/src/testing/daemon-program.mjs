// A daemon in a process of its own, to be killed. Says on stdout that it serves.
import { Daemon } from '@ostler/daemon';
import { claudeEngine } from '@ostler/engines/claude';
import { codexEngine } from '@ostler/engines/codex';
import { simulatedEngine } from '@ostler/lab';

const startedMs = performance.now();
const daemon = await Daemon.start({
  stateDir: process.argv[2],
  engines: [simulatedEngine, claudeEngine, codexEngine],
  version: '0.0.0',
  localLimits: { rateBurst: 1e6, ratePerSecond: 1e6, maxInFlight: 1_024 },
});
const { serverInstanceId, socketPath } = daemon;
const startMs = performance.now() - startedMs;
process.stdout.write(`${JSON.stringify({ ready: true, socketPath, serverInstanceId, startMs })}\n`);
