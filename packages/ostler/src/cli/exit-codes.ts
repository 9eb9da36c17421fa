import { isCoded } from '@ostler/runtime';

/** What every command's exit code means. */
export const exitCodes = {
  done: 0,
  /** It failed, a claim did not hold, or the receipt is rejected. */
  failed: 1,
  usage: 2,
  noDaemon: 3,
  timeout: 4,
  /** The receipt is `unknown`, or no answer came: look at the agent's terminal before anything is sent again. */
  inDoubt: 5,
  interrupted: 130,
} as const;

const codes: ReadonlyMap<string, number> = new Map([
  ['USAGE', exitCodes.usage],
  ['DAEMON_NOT_RUNNING', exitCodes.noDaemon],
  ['DAEMON_GONE', exitCodes.noDaemon],
  ['TIMEOUT', exitCodes.timeout],
  ['IN_DOUBT', exitCodes.inDoubt],
]);

export function exitCodeOf(failure: unknown): number {
  return (isCoded(failure) ? codes.get(failure.code) : undefined) ?? exitCodes.failed;
}

export const exitCodesHelp: string =
  '\nExit codes: 0 done; 1 failed, or the receipt is rejected; 2 usage; 3 no daemon;\n' +
  '4 timeout; 5 in doubt (the receipt is unknown); 130 Ctrl-C.';
