// Started where an agent would be: says what it sees, runs the command line once, then is the agent.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [, , note, main, agent, ...rest] = process.argv;
const inbox = spawnSync(process.execPath, [main, 'mail', 'inbox'], { encoding: 'utf8' });
const names = Object.keys(process.env).filter((name) => name.startsWith('OSTLER_'));
const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
writeFileSync(note, JSON.stringify({ env, inbox: inbox.stdout, code: inbox.status }));
process.argv.splice(2, process.argv.length, ...rest);
await import(agent);
