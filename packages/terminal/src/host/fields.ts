import { CodedError } from '@ostler/runtime';
import { isRecord } from './frame.js';
import type { HostErrorCode } from './host-errors.js';

type Fields = Readonly<Record<string, unknown>>;

function refuse(name: string, wanted: string): never {
  throw new CodedError<HostErrorCode>('HOST_BAD_REQUEST', `${name} must be ${wanted}`, {
    details: { field: name },
  });
}

export function textOf(fields: Fields, name: string, maxCharacters: number): string {
  const value = fields[name];
  return typeof value === 'string' && value.length <= maxCharacters
    ? value
    : refuse(name, `a text of at most ${maxCharacters} characters`);
}

/** Left out is null. */
export function textOrNull(fields: Fields, name: string, maxCharacters: number): string | null {
  return fields[name] == null ? null : textOf(fields, name, maxCharacters);
}

export function numberOf(
  fields: Fields,
  name: string,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = fields[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max
    ? value
    : refuse(name, `a whole number from 0 to ${max}`);
}

/** Left out is null. */
export function numberOrNull(fields: Fields, name: string, max?: number): number | null {
  return fields[name] == null ? null : numberOf(fields, name, max);
}

export function booleanOf(fields: Fields, name: string): boolean {
  const value = fields[name];
  return typeof value === 'boolean' ? value : refuse(name, 'true or false');
}

export function recordOf(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isRecord(value) ? value : refuse(name, 'an object');
}

export function textsOf(fields: Fields, name: string, max: number): readonly string[] {
  const value = fields[name];
  if (!Array.isArray(value) || value.length > max)
    return refuse(name, `a list of at most ${max} texts`);
  return value.map((item: unknown) => (typeof item === 'string' ? item : refuse(name, 'texts')));
}

export function textMapOf(fields: Fields, name: string): Readonly<Record<string, string>> {
  const found: [string, string][] = Object.entries(recordOf(fields, name)).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : refuse(name, 'texts by name'),
  ]);
  return Object.fromEntries(found);
}
