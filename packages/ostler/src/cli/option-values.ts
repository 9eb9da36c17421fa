import { type Command, InvalidArgumentError, Option } from 'commander';

/** What every command that talks to a daemon takes. */
export interface DaemonFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
}

export function stateDirOption(): Option {
  return new Option(
    '--state-dir <dir>',
    "the daemon's directory; else OSTLER_STATE_DIR, XDG_STATE_HOME/ostler, ~/.local/state/ostler",
  );
}

export function jsonOption(what = 'one JSON document on stdout'): Option {
  return new Option('--json', what);
}

export function withDaemonOptions(command: Command, json?: string): Command {
  return command.addOption(stateDirOption()).addOption(jsonOption(json));
}

export function examples(...lines: readonly string[]): string {
  const head = lines.length === 1 ? 'Example' : 'Examples';
  return `\n${head}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`give a whole number from ${least} to ${most}.`);
  };
}

/** Seconds, with a fraction where wanted; given on as milliseconds. */
export function secondsAsMs(mostSeconds: number): (value: string) => number {
  return (value) => {
    const seconds = value.trim() === '' ? Number.NaN : Number(value);
    if (seconds >= 0 && seconds <= mostSeconds) return Math.round(seconds * 1_000);
    throw new InvalidArgumentError(`give seconds from 0 to ${mostSeconds}.`);
  };
}

/** For options that may be given more than once. */
export function collected(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

export function keyAndValue(
  value: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('give NAME=VALUE.');
  return { ...earlier, [value.slice(0, at)]: value.slice(at + 1) };
}

/** `HOST:PORT`; an IPv6 address in brackets. Port 0: any free one. */
export function hostAndPort(value: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new InvalidArgumentError('give HOST:PORT, such as 127.0.0.1:7411 or [::1]:7411.');
}
