import { writeSync } from 'node:fs';

const escape = '\u001b';
const enter = `${escape}[22;0t${escape}[?1049h${escape}[H${escape}[2J`;
/** Everything an agent may have set, back to what a shell expects. */
const resets = [
  '[?2026l',
  '[0m',
  '[r',
  '[?6l',
  '[4l',
  '[?7h',
  '[?1l',
  ...[9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004].map((mode) => `[?${mode}l`),
  '>',
  '[>4;0m',
  '[<99u',
  '[0 q',
  '[?25h',
  '[?1049l',
  '[<99u',
  '[23;0t',
];
const leave = resets.map((sequence) => `${escape}${sequence}`).join('');
const stdoutHandle = 1;

/** The person's own terminal, lent to an agent's screen; put back on every way out. */
export class PersonTerminal implements Disposable {
  readonly #endings = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
  readonly #restore = (): void => this[Symbol.dispose]();
  readonly #exit = (_name: string, number: number): void => process.exit(128 + number);
  #lent = true;

  constructor() {
    process.on('exit', this.#restore);
    for (const signal of this.#endings) process.on(signal, this.#exit);
    if (process.stdin.isTTY) process.stdin.setRawMode(true);
    process.stdout.write(enter);
  }

  [Symbol.dispose](): void {
    if (!this.#lent) return;
    this.#lent = false;
    process.off('exit', this.#restore);
    for (const signal of this.#endings) process.off(signal, this.#exit);
    try {
      writeSync(stdoutHandle, leave);
    } catch {
      // The terminal has gone, and with it what was to be put back.
    }
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    process.stdin.pause();
  }
}
