/** A value that JSON can hold. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * One text for one value: keys sorted by UTF-16 code units, no white space, fields that
 * are undefined left out (the form of RFC 8785). For values that came through a schema.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(field)}`);
  }
  return `{${fields.join(',')}}`;
}

function isList(
  value: readonly JsonValue[] | { readonly [key: string]: JsonValue | undefined },
): value is readonly JsonValue[] {
  return Array.isArray(value);
}
