// Keeps the documents true in what a machine can check: a code block equals the file it names, a relative link
// leads somewhere, a command named in a text exists, and each package carries the licence of the tree.
// A block of output is what its command prints now. With --write, blocks are rewritten. Needs a build.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './root.mjs';

const write = process.argv.includes('--write');
const faults = [];
const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

for (const file of markdownFiles(root)) {
  const name = relative(root, file);
  const text = readFileSync(file, 'utf8');
  checkBlocks(name, file, text);
  checkLinks(name, file, text);
  for (const [, script] of text.matchAll(/\bnpm run ([a-z][\w:-]*)/g)) {
    if (!Object.hasOwn(scripts, script)) faults.push(`${name}: no script is named "${script}"`);
  }
}

const licence = readFileSync(join(root, 'LICENSE'), 'utf8');
for (const folder of readdirSync(join(root, 'packages'))) {
  if (!existsSync(join(root, 'packages', folder, 'package.json'))) continue;
  const copy = join(root, 'packages', folder, 'LICENSE');
  if (!existsSync(copy) || readFileSync(copy, 'utf8') !== licence) {
    faults.push(`packages/${folder}/LICENSE is not the LICENSE of the tree: copy it`);
  }
}

for (const fault of faults) console.log(fault);
console.log(`${faults.length} faults in the documents`);
process.exitCode = faults.length === 0 ? 0 : 1;

/**
 * `<!-- from: path -->` before a fenced block: the block is that file, whole.
 * `<!-- output of: node arguments -->`: the block is what that prints.
 */
function checkBlocks(name, file, text) {
  const marked = /(<!-- (from|output of): (.+?) -->\n+```\w*\n)([\s\S]*?)(```)/g;
  const renewed = text.replace(marked, (_all, head, kind, what, body, tail) => {
    const wanted = kind === 'from' ? fileText(name, what) : printed(what);
    if (wanted !== body && !write) {
      faults.push(`${name}: the block of "${what}" differs; run node tools/docs.mjs --write`);
    }
    return head + wanted + tail;
  });
  if (write && renewed !== text) writeFileSync(file, renewed);
}

function fileText(name, path) {
  if (existsSync(join(root, path))) return readFileSync(join(root, path), 'utf8');
  faults.push(`${name}: there is no ${path}`);
  return '';
}

function printed(command) {
  const [program, ...args] = command.split(' ');
  if (program !== 'node') throw new Error(`an output block runs node only, not ${program}`);
  return execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
}

function checkLinks(name, file, text) {
  const prose = text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  const targets = [
    ...prose.matchAll(/\]\(([^)\s]+)\)/g),
    ...prose.matchAll(/(?:src|href|srcset)="([^"]+)"/g),
  ];
  for (const [, target] of targets) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path, anchor] = target.split('#');
    const linked = path === '' ? file : join(dirname(file), path);
    if (!existsSync(linked)) faults.push(`${name}: the link to ${target} leads nowhere`);
    else if (anchor && !anchors(readFileSync(linked, 'utf8')).has(anchor)) {
      faults.push(`${name}: ${path === '' ? 'this file' : path} has no heading #${anchor}`);
    }
  }
}

function anchors(text) {
  const headings = text.matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function markdownFiles(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      const skip = ['node_modules', '.git', 'dist', 'coverage', '.engines', '.ostler', 'fixtures'];
      return skip.includes(entry.name) ? [] : markdownFiles(path);
    }
    return entry.name.endsWith('.md') ? [path] : [];
  });
}
