import { type EngineReader, type PreparedBody, unreadable } from '@ostler/engines';
import { claudeEngine } from '@ostler/engines/claude';
import { codexEngine } from '@ostler/engines/codex';
import { genericEngines } from '@ostler/engines/generic';
import { bracketedPaste, pasteEnd, pasteStart, Screen, sanitiseBody } from '@ostler/terminal';
import type { Chance } from '../simulation/random.js';
import type { BodiesCase, FuzzTally, Verdict } from './fuzz-case.js';

const readers: readonly EngineReader[] = [
  claudeEngine.reader('2.1.280'),
  claudeEngine.reader('2.1.328'),
  codexEngine.reader('0.156.1'),
  codexEngine.reader('0.169.0'),
  codexEngine.reader(null),
  ...genericEngines.slice(0, 1).map((engine) => engine.reader(null)),
];

const parts: readonly [string, ...string[]] = [
  '\u001b[201~',
  '\u001b[200~',
  '\u009b201~',
  '\u009b200~',
  '\u001b[20',
  '1~',
  '0~',
  '\u001b',
  '\u009b',
  '[201~',
  '\u001b[2',
  '\u0000',
  '\u0003',
  '\u0004',
  '\u001a',
  '\r',
  '\n',
  '\r\n',
  '\t',
  '\u007f',
  '\u0085',
  '\u009c',
  '\ud83d',
  '\udc68',
  '👨‍👩‍👧',
  '🇯🇵',
  'e\u0301',
  '中文',
  'שלום',
  '\u202e',
  '\u200b',
  '\ufeff',
  '\u2028',
  '/clear',
  '!rm -rf',
  '#note',
  '@file.png',
  '&',
  '?',
  'exit',
  ':q!',
  '\\',
  '[Pasted text #1 +3 lines]',
  '[Pasted Content 2000 chars]',
  '/tmp/a.png',
  ' ',
  'hello',
  'some more words',
];

export function makeBodies(chance: Chance): BodiesCase {
  const texts = Array.from({ length: 10 }, () => makeText(chance));
  return { kind: 'bodies', cols: chance.int(20, 140), rows: chance.int(8, 60), texts };
}

function makeText(chance: Chance): string {
  const huge = chance.is(0.01);
  const count = huge ? chance.int(1_000, 6_000) : chance.int(1, 25);
  return Array.from({ length: count }, () =>
    chance.is(0.7) ? chance.pick(parts) : anyCharacters(chance),
  ).join('');
}

function anyCharacters(chance: Chance): string {
  const top = chance.pick([0x7f, 0xff, 0x2fff, 0xffff, 0x10ffff]);
  return String.fromCodePoint(
    ...Array.from({ length: chance.int(1, 8) }, () => chance.int(0, top)),
  );
}

/**
 * No text becomes a paste that ends its bracket or presses a key; what is not refused is exact;
 * and no draft is taken for ours but ours.
 */
export async function checkBodies(
  { cols, rows, texts }: BodiesCase,
  cuts: Chance,
  tally: FuzzTally,
): Promise<Verdict> {
  using screen = new Screen({ cols, rows });
  const snapshot = await screen.look();
  for (const text of texts) {
    tally.bodies += 1;
    const clean = sanitiseBody(text);
    const wanted = isWellFormed(text) ? sanitisedAgain(text) : null;
    if ((clean.kind === 'ready' ? clean.text : null) !== wanted) return 'sanitised otherwise';
    for (const reader of readers) {
      const name = `${reader.engine} ${reader.version ?? '(any)'}`;
      const verdict = reader.prepareBody(text, snapshot);
      if (verdict.kind === 'refused') {
        if (verdict.reason === '' || verdict.message === '')
          return `${name}: refused without a word`;
        continue;
      }
      if (wanted === null) return `${name}: half a pair is not refused`;
      const fault = faultOfFrames(verdict.body) ?? faultOfMeaning(verdict.body, text, wanted);
      if (fault !== null) return `${name}: ${fault}`;
      if (cuts.is(0.3)) {
        const seen = await draftFault(reader, verdict.body, cuts);
        if (seen !== null) return `${name}: ${seen}`;
      }
    }
  }
  return null;
}

/** What sanitising means, said a second time: step by step until nothing changes. */
function sanitisedAgain(text: string): string {
  const plain = text.replace(/\r\n?/g, '\n');
  let open = withoutControls(plain, (code) => code === 0x1b || code === 0x9b);
  for (let before = ''; before !== open; ) {
    before = open;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: brackets are what it takes away
    open = open.replace(/(?:\u001b\[|\u009b)20[01]~/g, '');
  }
  return withoutControls(open, () => false).replace(/\n+$/, '');
}

function withoutControls(text: string, keep: (code: number) => boolean): string {
  return Array.from({ length: text.length }, (_, index) => text[index] ?? '')
    .filter((unit) => !isControl(unit.charCodeAt(0)) || keep(unit.charCodeAt(0)))
    .join('');
}

function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09 && code !== 0x0a) || (code >= 0x7f && code <= 0x9f);
}

function isWellFormed(text: string): boolean {
  return Buffer.from(text, 'utf8').toString('utf8') === text;
}

function faultOfFrames({ frames }: PreparedBody): Verdict {
  if (frames.length === 0) return 'no frame';
  for (const frame of frames) {
    if (frame === '') return 'an empty frame';
    if (!isWellFormed(frame)) return 'a frame with half a pair';
    if (Array.from(frame).some((unit) => isControl(unit.charCodeAt(0)) && unit.length === 1))
      return 'a frame with a control character';
    const pasted = bracketedPaste([frame]);
    if (pasted.split(pasteEnd).length !== 2 || pasted.split(pasteStart).length !== 2)
      return 'a frame that closes its bracket';
  }
  return null;
}

/** Letters and digits of every script: nothing may drop, add or move one. */
function lettersOf(text: string): string {
  return text.normalize('NFD').replace(/[^\p{L}\p{N}\p{So}]/gu, '');
}

function faultOfMeaning({ frames, text }: PreparedBody, original: string, wanted: string): Verdict {
  const pasted = lettersOf(frames.join(''));
  if (pasted !== lettersOf(text)) return 'the frames are not the text';
  return keepsMeaning(pasted, original, wanted)
    ? null
    : 'not refused, and not the text that was sent';
}

/** An engine takes control sequences away whole, and letters that show nothing; else not one may be missing. */
function keepsMeaning(pasted: string, text: string, wanted: string): boolean {
  const invisible = /[\u115f\u1160\u3164\uffa0\u17b4\u17b5]/g;
  const ours = pasted.replace(invisible, '');
  const theirs = lettersOf(wanted).replace(invisible, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what control sequences begin with
  if (!/[\u001b\u009b]/.test(text)) return ours === theirs;
  let at = 0;
  for (const letter of ours) {
    at = theirs.indexOf(letter, at) + letter.length;
    if (at < letter.length) return false;
  }
  return true;
}

/** Our short draft in a composer as the engine paints it is `exact`; with one letter changed it is not. */
async function draftFault(
  reader: EngineReader,
  body: PreparedBody,
  cuts: Chance,
): Promise<Verdict> {
  const text = body.frames.join('').trimEnd();
  if (!/^[a-z][a-z ]{2,40}$/.test(text) || reader.engine === 'generic') return null;
  if ((await matchOf(reader, body, text)) !== 'exact') return 'our own draft is not known';
  const at = text.search(/[a-z](?=[a-z ]*$)/) - cuts.int(0, Math.min(2, text.length - 1));
  const others = [
    `${text}q`,
    text.slice(0, -1),
    `q${text}`,
    `${text.slice(0, Math.max(0, at))}7${text.slice(Math.max(0, at) + 1)}`,
  ];
  for (const other of others) {
    if (other.replaceAll(' ', '') === text.replaceAll(' ', '')) continue;
    if ((await matchOf(reader, body, other)) === 'exact') return `“${other}” is taken for ours`;
  }
  return null;
}

async function matchOf(reader: EngineReader, body: PreparedBody, draft: string): Promise<string> {
  const size = { cols: 100, rows: 30 };
  using screen = new Screen(size);
  const rule = '─'.repeat(size.cols);
  screen.feed(
    reader.engine === 'claude'
      ? `\u001b[?2004h\u001b[?25l\u001b[20;1H${rule}\r\n❯ ${draft}\u001b[7m \u001b[0m\r\n${rule}\r\n  ? for shortcuts`
      : `\u001b[?2004h\u001b[20;1H\u001b[1m›\u001b[0m ${draft}\u001b[22;1H  model · 100% left\u001b[20;${draft.length + 3}H`,
  );
  const snapshot = await screen.look();
  const reading = reader.read(snapshot);
  if (reading === unreadable || !reading.composer) return 'no composer';
  return reader.matchDraft(reading, body, snapshot);
}
