import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { node, runQuiet } from './child.mjs';
import { ownHeaders } from './node-headers.mjs';
import { npmCommand } from './npm.mjs';
import { say, seconds } from './progress.mjs';
import { readText, root } from './root.mjs';

const modules = join(root, 'node_modules');
const stampFile = join(modules, '.ostler-installed');
const failureLines = 80;

/** Loads them, and makes enough garbage for the collector to take what they made. */
const tryNatives = `
  require('node-pty');
  const Database = require('better-sqlite3');
  const database = new Database(':memory:');
  let garbage = [];
  for (let n = 0; n < 1_000_000; n += 1) {
    if (n % 1_000 === 0) {
      database.prepare('SELECT ' + n).get();
      garbage = [];
    }
    garbage.push({ n });
  }
  database.close();
`;

/** Installs with `npm ci` if node_modules is missing, was made from another lockfile, or for another Node. */
export async function ensureInstalled(holder) {
  const wanted = installKey();
  if (readText(stampFile) === wanted) return;
  const why = await whatIsMissing();
  if (why === null) {
    writeFileSync(stampFile, wanted);
    return;
  }
  say(`${why}: running npm ci`);
  say(
    'two packages have native parts, which npm compiles where no prebuilt binary can be fetched: minutes',
  );
  const startedMs = performance.now();
  const npm = npmCommand();
  const install = await runQuiet(
    npm.command,
    [...npm.args, 'ci', '--no-audit', '--no-fund', '--loglevel=warn'],
    { label: installPhase, onSpawn: (pid) => holder.alsoHeldBy(pid), env: buildEnvironment() },
  );
  const missing = install.ok ? await whatIsMissing() : null;
  if (!install.ok || missing !== null) failInstall(install, missing);
  writeFileSync(stampFile, wanted);
  say(`installed in ${seconds(performance.now() - startedMs)}`);
}

function installKey() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  return `${lock} ${process.platform} ${process.arch} ${process.versions.modules}\n`;
}

/** A sentence that says why an install is needed, or null. Also right about a tree installed by hand. */
async function whatIsMissing() {
  const installedText = readText(join(modules, '.package-lock.json'));
  if (installedText === null) return 'nothing is installed yet';
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(installedText).packages;
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.includes('node_modules/') || entry.optional || entry.link) continue;
    if (entry.version !== installed[path]?.version)
      return 'the lockfile changed since the last install';
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (entry.link && !existsSync(join(root, path)))
      return 'the lockfile changed since the last install';
  }
  const tried = await runQuiet(node, ['-e', tryNatives]);
  return tried.ok ? null : `the native modules do not work in Node ${process.versions.node}`;
}

/** For what is compiled; where a prebuilt binary is fetched nothing of it is used. */
function buildEnvironment() {
  const headers = ownHeaders();
  // npm may be set to the headers of another Node, and what is built against those can't be loaded.
  const env = headers === null ? process.env : { ...process.env, npm_config_nodedir: headers };
  if (Number(process.versions.node.split('.')[0]) < 24) return env;
  // See object-wrap.h.
  const flags = `-include "${join(root, 'tools', 'object-wrap.h')}"`;
  return { ...env, CXXFLAGS: `${process.env.CXXFLAGS ?? ''} ${flags}`.trim() };
}

function installPhase() {
  return existsSync(join(modules, 'better-sqlite3', 'package.json'))
    ? 'npm ci: building the native modules node-pty and better-sqlite3'
    : 'npm ci: fetching and unpacking packages';
}

function failInstall(install, missing) {
  const lines = install.output.trimEnd().split('\n');
  process.stderr.write(`${lines.slice(-failureLines).join('\n')}\n`);
  say(
    missing === null ? 'npm ci failed; its last lines are above' : `npm ci ended, yet ${missing}`,
  );
  const absent = ['python3', 'make', 'c++'].filter((tool) => !onPath(tool));
  if (absent.length > 0) {
    say(`compiling native modules needs ${absent.join(', ')}, not found here`);
    say('on Debian and Ubuntu: apt-get install python3 make g++; on macOS: xcode-select --install');
  }
  process.exit(1);
}

function onPath(tool) {
  return (process.env.PATH ?? '').split(delimiter).some((dir) => existsSync(join(dir, tool)));
}
