import { basename } from 'node:path';
import { node } from './child.mjs';

/** The very npm that started us, under the very Node that runs us; else the npm of the PATH. */
export function npmCommand() {
  const started = process.env.npm_execpath;
  if (started !== undefined && basename(started) === 'npm-cli.js') {
    return { command: node, args: [started] };
  }
  return { command: 'npm', args: [] };
}
