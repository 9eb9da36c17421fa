// `npm run engines`: installs the pinned real engines for the live tests into .engines/, nothing else.
// --only codex-0.169.0 (several times)   --json   --list

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinsFile = join(root, 'packages', 'lab', 'src', 'real-engines', 'versions.json');
const enginesDir = join(root, '.engines');
const heartbeatMs = 5_000;
const keptOutputChars = 4_000;

const packages = { claude: '@anthropic-ai/claude-code', codex: '@openai/codex' };
const triples = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

function readPins() {
  return Object.entries(JSON.parse(readFileSync(pinsFile, 'utf8'))).flatMap(([engine, versions]) =>
    versions.map((version) => ({ engine, version, name: `${engine}-${version}` })),
  );
}

/** Both engines carry their program in a package of the platform; the launcher around it isn't needed. */
function executableOf(pin, dir) {
  const platform = `${process.platform}-${process.arch}`;
  const modules = join(dir, 'node_modules');
  if (pin.engine === 'claude')
    return join(modules, '@anthropic-ai', `claude-code-${platform}`, 'claude');
  const triple = triples[platform] ?? 'unsupported';
  return join(modules, '@openai', `codex-${platform}`, 'vendor', triple, 'bin', 'codex');
}

function isExecutable(file) {
  return existsSync(file) && (statSync(file).mode & 0o111) !== 0;
}

async function install(pin, say) {
  const dir = join(enginesDir, pin.name);
  const startedMs = performance.now();
  const result = (state, error = null) => {
    const tookMs = Math.round(performance.now() - startedMs);
    return { ...pin, dir, executable: executableOf(pin, dir), state, tookMs, error };
  };
  if (isExecutable(executableOf(pin, dir))) {
    say(`${pin.name} is there`);
    return result('present');
  }
  if (!(`${process.platform}-${process.arch}` in triples)) {
    return result('failed', `there is no build for ${process.platform}-${process.arch}`);
  }
  // Installed beside its place and moved there whole, so that a broken-off install is never taken for one.
  const staging = join(enginesDir, `.${pin.name}.${process.pid}`);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  const name = packages[pin.engine];
  const manifest = {
    name: `engine-${pin.engine}`,
    private: true,
    dependencies: { [name]: pin.version },
    allowScripts: { [name]: false },
  };
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  say(`${pin.name}: installing ${name}@${pin.version} with npm`);
  const args = ['install', '--no-audit', '--no-fund', '--no-update-notifier', '--ignore-scripts'];
  const npm = await run('npm', [...args, '--save-exact', '--loglevel=error'], staging, () => {
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    say(`${pin.name}: still installing (${seconds} s so far)`);
  });
  if (npm.code !== 0 || !isExecutable(executableOf(pin, staging))) {
    rmSync(staging, { recursive: true, force: true });
    const what =
      npm.code === 0
        ? 'npm left out the package of this platform; run it without --omit=optional'
        : `npm ended with ${npm.code}; check that the registry can be reached, then run this again\n${npm.output}`;
    return result('failed', what);
  }
  rmSync(dir, { recursive: true, force: true });
  renameSync(staging, dir);
  const done = result('installed');
  say(`${pin.name}: ready after ${(done.tookMs / 1000).toFixed(1)} s`);
  return done;
}

function run(command, args, cwd, onBeat) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setInterval(onBeat, heartbeatMs);
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-keptOutputChars);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const settle = (code) => {
      clearInterval(timer);
      resolve({ code, output });
    };
    child.once('error', (error) => {
      output += error.message;
      settle(127);
    });
    child.once('close', settle);
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const pins = readPins();
  const unknown = (values.only ?? []).filter((name) => !pins.some((pin) => pin.name === name));
  if (unknown.length > 0) {
    const known = pins.map((pin) => pin.name).join(', ');
    process.stderr.write(`ostler: there is no pin ${unknown.join(', ')}; choose from: ${known}\n`);
    return 2;
  }
  const wanted = values.only ? pins.filter((pin) => values.only.includes(pin.name)) : pins;
  if (values.list) {
    for (const pin of wanted) process.stdout.write(`${pin.name}\n`);
    return 0;
  }
  const say = (text) => process.stderr.write(`ostler: ${text}\n`);
  const results = [];
  for (const pin of wanted) results.push(await install(pin, say));
  const failed = results.filter((entry) => entry.state === 'failed');
  for (const entry of failed) say(`${entry.name} is not installed: ${entry.error}`);
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else say(`${results.length - failed.length} of ${results.length} engines are in .engines`);
  return failed.length === 0 ? 0 : 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (failure) => {
    process.stderr.write(`ostler: ${failure.message}\n`);
    process.exitCode = 2;
  },
);
