// Draws docs/pictures/receipts.svg from a real run of the demo: its receipts and the agent's screen, step by step.
// With --from FILE it takes what `ostler demo --json` printed; else it runs the demo itself. Needs a build.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './root.mjs';

const file = join(root, 'docs', 'pictures', 'receipts.svg');
const stepSeconds = 2.6;
const lastSeconds = 5;
const cell = { width: 7.6, height: 18 };
const margin = 20;
const screenRows = 16;
const screenColumns = 80;
const columns = [
  { title: 'receipt', at: 0 },
  { title: 'mode', at: 9 },
  { title: 'phase', at: 23 },
  { title: 'state', at: 43 },
  { title: 'hold / evidence', at: 54 },
  { title: 'after', at: 73 },
];
const width = Math.round(2 * margin + (screenColumns + 2) * cell.width);
const screenTop = margin + 8.5 * cell.height;
const height = Math.round(screenTop + (screenRows + 2.6) * cell.height + margin);

const { values } = parseArgs({ options: { from: { type: 'string' } } });
const report = values.from ? JSON.parse(readFileSync(values.from, 'utf8')) : await runDemo();
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, picture(report));
console.log(`docs/pictures/receipts.svg: ${report.steps.length} steps, ${report.engine}`);

/** Slow enough that the agent's screen stands at each step's end. */
async function runDemo() {
  const { showDemo } = await import(join(root, 'packages/ostler/dist/demo/show-demo.js'));
  let text = '';
  const output = { write: (part) => void (text += part) };
  const code = await showDemo({
    engine: 'simulated',
    json: true,
    output,
    errors: process.stderr,
    pace: { stepMs: 400 },
  });
  if (code !== 0) throw new Error('a claim of the demo failed; no picture is drawn of it');
  return JSON.parse(text);
}

function picture({ claims, engine, receipts, steps }) {
  const seconds = steps.map((_, index) => (index === steps.length - 1 ? lastSeconds : stepSeconds));
  const total = seconds.reduce((sum, one) => sum + one, 0);
  const starts = seconds.map((_, index) =>
    seconds.slice(0, index).reduce((sum, one) => sum + one, 0),
  );
  const percent = (at) => ((at / total) * 100).toFixed(2);
  const frames = steps.map((_, index) => {
    const from = percent(starts[index]);
    const to = percent(starts[index] + seconds[index]);
    const before = index === 0 ? '' : `0%,${Number(from) - 0.01}%{opacity:0}`;
    const after = index === steps.length - 1 ? '' : `${Number(to) + 0.01}%,100%{opacity:0}`;
    return `@keyframes s${index}{${before}${from}%,${to}%{opacity:1}${after}}`;
  });
  const groups = steps.map((step, index) => {
    const isLast = index === steps.length - 1;
    const style = `animation-name:s${index}`;
    return `<g class="step${isLast ? ' last' : ''}" style="${style}">${stepOf(step, index, receipts)}</g>`;
  });
  const verdict = claims.agree
    ? 'Every receipt agrees with what the model was given.'
    : 'A claim failed.';
  const words = `${receipts.length} texts to one busy agent. ${verdict}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(words)}">
<title>${escape(words)}</title>
<style>
svg{--page:#ffffff;--line:#d0d7de;--text:#1f2328;--faint:#656d76;--waiting:#9a6700;--going:#0969da;--good:#1a7f37;--bad:#cf222e;--screen:#f6f8fa}
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--line:#30363d;--text:#e6edf3;--faint:#8d96a0;--waiting:#d29922;--going:#58a6ff;--good:#3fb950;--bad:#f85149;--screen:#161b22}}
text{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
.page{fill:var(--page);stroke:var(--line)}.screen{fill:var(--screen);stroke:var(--line)}.rule{stroke:var(--faint)}.thick{stroke:var(--text);stroke-width:2}
.title{font-weight:600;font-size:14px}.faint{fill:var(--faint)}.waiting{fill:var(--waiting)}.going{fill:var(--going)}.good{fill:var(--good)}.bad{fill:var(--bad)}
.step{opacity:0}.last{opacity:1}
.step{animation-duration:${total}s;animation-iteration-count:infinite;animation-timing-function:step-end}
${frames.join('\n')}
@media(prefers-reduced-motion:reduce){.step{animation:none}.last{opacity:1}}
</style>
<rect class="page" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${columns.map(({ at, title }) => word(at, 2.6, title, 'faint')).join('')}
<rect class="screen" x="${margin - 6}" y="${screenTop - 8}" width="${width - 2 * margin + 12}" height="${(screenRows + 1) * cell.height}" rx="6"/>
${groups.join('\n')}
${word(0, (height - margin) / cell.height - 1, `ostler demo · ${engine} agent · ${verdict}`, 'faint')}
</svg>
`;
}

function stepOf(step, index, receipts) {
  const title = `<text class="title" x="${margin}" y="${margin + 14}">${index + 1} · ${escape(step.text)}</text>`;
  const rows = receipts
    .filter(({ sentAtMs }) => sentAtMs <= step.endedAtMs)
    .map((receipt, row) => receiptRow(receipt, step.endedAtMs, 3.7 + row));
  const screen = step.screen
    .slice(-screenRows)
    .map((text, row) => screenRow(text, screenTop + (row + 0.7) * cell.height));
  return [title, ...rows, ...screen].join('');
}

/** A receipt as it stood at a moment; what still waits is as old as the moment. */
function receiptRow({ history, idempotencyKey, sentAtMs }, atMs, line) {
  const entry = history.filter((one) => sentAtMs + one.atMs <= atMs).at(-1);
  if (!entry) return '';
  const { evidence, hold, mode, phase, state } = entry;
  const because = hold ? `hold: ${hold}` : evidence ? `by ${evidence}` : '';
  const ageMs = state === 'queued' ? atMs - sentAtMs : entry.atMs;
  const cells = [idempotencyKey, mode ?? '', phase ?? '', state, because, `${ageMs} ms`];
  const style = styleOf(state);
  return columns.map(({ at }, index) => word(at, line, cells[index], style)).join('');
}

function styleOf(state) {
  if (state === 'completed') return 'good';
  if (state === 'rejected' || state === 'unknown') return 'bad';
  return state === 'queued' ? 'waiting' : 'going';
}

/** Rules become lines: fonts disagree on how wide their dashes are. */
function screenRow(text, y) {
  const dashes = /^[─━]{8,}/.exec(text)?.[0];
  if (!dashes) return text === '' ? '' : `<text x="${margin}" y="${y}">${escape(text)}</text>`;
  const style = dashes.startsWith('━') ? 'thick' : 'rule';
  return `<line class="${style}" x1="${margin}" x2="${width - margin}" y1="${y - 4}" y2="${y - 4}"/>`;
}

function word(column, line, text, style) {
  const x = (margin + column * cell.width).toFixed(1);
  const y = (margin + line * cell.height).toFixed(1);
  return text === '' ? '' : `<text class="${style}" x="${x}" y="${y}">${escape(text)}</text>`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
