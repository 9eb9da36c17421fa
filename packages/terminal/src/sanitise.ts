export type SanitisedBody =
  | { readonly kind: 'ready'; readonly text: string }
  /** Half a surrogate pair has no UTF-8 form. `index` is its UTF-16 position in what was given. */
  | { readonly kind: 'refused'; readonly reason: 'lone_surrogate'; readonly index: number };

/** Index of the first lone surrogate, or -1. */
export function findLoneSurrogate(text: string): number {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(index + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return index;
    index += 1;
  }
  return -1;
}

const escape = 0x1b;
const csi = 0x9b;
const brackets = ['\u001b[200~', '\u001b[201~', '\u009b200~', '\u009b201~'];

/** C0 but tab and LF, DEL, and C1. */
function isControl(codeUnit: number): boolean {
  return (
    (codeUnit < 0x20 && codeUnit !== 0x09 && codeUnit !== 0x0a) ||
    (codeUnit >= 0x7f && codeUnit <= 0x9f)
  );
}

/**
 * True when `text` can stand inside a paste frame: no control character but tab and
 * LF, so nothing in it can end the frame or press a key.
 */
export function isSafeInPaste(text: string): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (isControl(text.charCodeAt(index))) return false;
  return true;
}

/**
 * Makes a text safe to paste, and changes nothing else of it: CRLF and CR become LF;
 * paste brackets go whole, also those that only come about by a removal; every other
 * C0 (but tab and LF), DEL and C1 control goes; trailing newlines go. Applied twice it
 * does what it does once.
 *
 * C1 means the code points U+0080 to U+009F; a byte of that value inside the UTF-8
 * form of another character is no control and stays.
 */
export function sanitiseBody(text: string): SanitisedBody {
  const index = findLoneSurrogate(text);
  if (index >= 0) return { kind: 'refused', reason: 'lone_surrogate', index };
  const plain = withoutBrackets(text.replace(/\r\n?/g, '\n'));
  let clean = '';
  let from = 0;
  for (let at = 0; at < plain.length; at += 1) {
    if (!isControl(plain.charCodeAt(at))) continue;
    clean += plain.slice(from, at);
    from = at + 1;
  }
  clean += plain.slice(from);
  return { kind: 'ready', text: clean.replace(/\n+$/, '') };
}

/**
 * One pass over a stack: a bracket is taken away the moment its last character
 * arrives, so what stood around it can complete another, and none is ever left.
 */
function withoutBrackets(text: string): string {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return text;
  const kept: string[] = [];
  for (const unit of text.split('')) {
    const code = unit.charCodeAt(0);
    // Controls that are no part of a bracket go first: they may stand inside one.
    if (isControl(code) && code !== escape && code !== csi) continue;
    kept.push(unit);
    if (unit !== '~') continue;
    for (const bracket of brackets) {
      if (kept.slice(-bracket.length).join('') !== bracket) continue;
      kept.length -= bracket.length;
      break;
    }
  }
  return kept.join('');
}
