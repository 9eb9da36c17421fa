// `npm run bench`: measures this house against the agents it serves, without a network. Needs a build.
// --engine NAME   --deliveries N   --json   --out FILE   --doc: writes docs/reference/benchmarks.md from this run

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { node, runInherited } from './child.mjs';
import { planOffline } from './offline.mjs';
import { say } from './progress.mjs';
import { root } from './root.mjs';

const program = join(root, 'packages', 'ostler', 'dist', 'bench', 'bench-main.js');
const page = join(root, 'docs', 'reference', 'benchmarks.md');
const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

function environment() {
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

async function run(args) {
  const plan = await planOffline(node, ['--expose-gc', program, ...args]);
  if (plan === null) {
    say('the tree is not built yet; run: npm run build');
    return 1;
  }
  if (!plan.isolated) say(`no network of its own: ${plan.reason}`);
  const { code, signal } = await runInherited(plan.command, plan.args, { env: environment() });
  return signal === null ? (code ?? 1) : 130;
}

function asPage(report) {
  return [
    '# Benchmarks',
    'Written by `npm run bench -- --doc`: every figure is from that one run. Real agents run offline before a scripted model; "aim" is what the figure is hoped to be, and nothing fails where it is not.',
    "A delivery's ratio is the time from the call of `turnSend` to the event that says `accepted`, durable writes included, over that delivery's own closed loop: from the first pasted byte to the output that completed the draft, and from Enter to the observation that acceptance rests on. Both are read from the recording of the session. A byte counts as written when the kernel is handed it, output as arrived when it has been read.",
    report.trim(),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

const args = process.argv.slice(2);
if (args.includes('--doc')) {
  const dir = mkdtempSync(join(tmpdir(), 'ostler-bench-'));
  try {
    const out = join(dir, 'report.md');
    const rest = args.filter((arg) => arg !== '--doc');
    process.exitCode = await run([...rest, '--out', out]);
    if (process.exitCode === 0) writeFileSync(page, asPage(readFileSync(out, 'utf8')));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
} else {
  const at = args.indexOf('--out');
  if (at >= 0 && args[at + 1] !== undefined) args[at + 1] = resolve(process.cwd(), args[at + 1]);
  process.exitCode = await run(args);
}
