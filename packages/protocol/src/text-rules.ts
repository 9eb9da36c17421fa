const encoder = new TextEncoder();
const loneSurrogate = /\p{Surrogate}/u;

/** Size in UTF-8. A lone surrogate counts as the three bytes it would be replaced by. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** True when the text has a UTF-8 form: no surrogate stands alone. */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}

/** True when nothing but white space and characters of no width is there. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(text);
}

/** True when `text` has at most `maxBytes` in UTF-8, without encoding what can't fit. */
export function fitsUtf8(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return false;
  return text.length * 3 <= maxBytes || utf8Bytes(text) <= maxBytes;
}
