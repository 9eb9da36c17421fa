import { pasteEnd, pasteStart } from '@ostler/terminal';

export type ModelKey =
  | { readonly kind: 'paste'; readonly text: string; readonly open: boolean }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'enter' | 'escape' | 'erase' | 'stash' | 'up' };

const named: Readonly<Record<string, 'enter' | 'escape' | 'erase' | 'stash' | 'up'>> = {
  '\r': 'enter',
  '\u001b': 'escape',
  '\u0015': 'erase',
  '\u0013': 'stash',
  '\u001b[A': 'up',
};
const splitter = new RegExp(
  `(${pasteStart.replace('[', '\\[')}|\u001b\\[A|[\u001b\r\u0015\u0013])`,
  'u',
);

/** Splits bytes as a program reads them. `inPaste`: the closing bracket of an earlier paste is still due. */
export function parseKeys(data: string, inPaste: boolean): ModelKey[] {
  const keys: ModelKey[] = [];
  let rest = data;
  let pasting = inPaste;
  while (rest !== '') {
    if (pasting) {
      const end = rest.indexOf(pasteEnd);
      const text = (end < 0 ? rest : rest.slice(0, end)).replaceAll(pasteStart, '');
      keys.push({ kind: 'paste', text: text.replaceAll('\r', '\n'), open: end < 0 });
      rest = end < 0 ? '' : rest.slice(end + pasteEnd.length);
      pasting = false;
      continue;
    }
    const [before = '', key] = rest.split(splitter, 2);
    if (before !== '') keys.push({ kind: 'type', text: before });
    if (key === undefined) break;
    rest = rest.slice(before.length + key.length);
    if (key === pasteStart) pasting = true;
    else keys.push({ kind: named[key] ?? 'escape' });
  }
  return keys;
}
