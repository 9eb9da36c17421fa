// `npm test`, `npm run demo`, `npm run engines`: the commands a newcomer types, on a tree with nothing in it yet.
// Nothing is imported before the version of Node is known to be one that can run the rest.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const oldestMinor = { 20: 19, 22: 13, 24: 0 };
if (major < 24 && !(minor >= oldestMinor[major])) {
  process.stderr.write(
    `Ostler needs Node 20 (from 20.19), 22 (from 22.13) or 24; this is Node ${process.versions.node}.\n` +
      'Install one of them (https://nodejs.org, or your version manager), then run the same command again.\n',
  );
  process.exit(1);
}

const [command, ...args] = process.argv.slice(2);
const { commands } = await import('./commands.mjs');
if (command === undefined || !Object.hasOwn(commands, command)) {
  process.stderr.write(
    `Usage: node tools/run.mjs ${Object.keys(commands).join('|')} [arguments]\n`,
  );
  process.exit(2);
}
await commands[command](args);
