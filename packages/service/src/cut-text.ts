import { utf8Bytes } from '@ostler/protocol';

const mark = '…';

/** `text` with at most `maxCharacters` code points; a longer one is cut and ends with `…`. */
export function cutToCharacters(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const characters: string[] = [];
  for (const character of text) {
    characters.push(character);
    if (characters.length > maxCharacters) {
      return `${characters.slice(0, maxCharacters - 1).join('')}${mark}`;
    }
  }
  return text;
}

/** `text` with at most `maxBytes` in UTF-8; a longer one is cut behind a whole character and ends with `…`. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || utf8Bytes(text) <= maxBytes) return text;
  const roomBytes = maxBytes - utf8Bytes(mark);
  const kept = text.slice(0, countUnits(text, roomBytes));
  return `${kept}${mark}`;
}

/** How many UTF-16 units from the start fit in `maxBytes` of UTF-8, whole characters only. */
export function countUnits(text: string, maxBytes: number): number {
  let units = 0;
  let bytes = 0;
  for (const character of text) {
    bytes += utf8Bytes(character);
    if (bytes > maxBytes) break;
    units += character.length;
    if (units > maxBytes) break;
  }
  return units;
}

/** One line: white space of every kind becomes one blank. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}
