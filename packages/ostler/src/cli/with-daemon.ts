import { type ConnectOptions, DaemonClient } from './daemon-client.js';
import { exitCodes } from './exit-codes.js';
import type { DaemonFlags } from './option-values.js';
import { type Output, outputTo } from './output.js';
import { stateDirOf } from './state-dir.js';

export interface DaemonRun {
  readonly client: DaemonClient;
  readonly stateDir: string;
  readonly output: Output;
  readonly json: boolean;
}

/** Runs one command against the daemon of its state directory. Ctrl-C ends it at once with 130. */
export async function withDaemon(
  { json = false, stateDir }: DaemonFlags,
  act: (run: DaemonRun) => Promise<void>,
  options: ConnectOptions = {},
): Promise<void> {
  const interrupted = (): never => process.exit(exitCodes.interrupted);
  process.on('SIGINT', interrupted);
  const dir = stateDirOf(stateDir);
  const client = await DaemonClient.connect(dir, options);
  try {
    await act({ client, stateDir: dir, output: outputTo(process.stdout), json });
  } finally {
    await client[Symbol.asyncDispose]();
    process.off('SIGINT', interrupted);
  }
}
