import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { CodedError } from '@ostler/runtime';
import type { CastErrorCode, CastEvent, CastHeader } from './cast.js';

export interface CastReadLimits {
  /** UTF-16 units of one line. */
  readonly maxLineCharacters: number;
  readonly maxEvents: number;
}

export const castReadLimits: CastReadLimits = {
  maxLineCharacters: 4 * 1024 * 1024,
  maxEvents: 1_000_000,
};

export type CastPart =
  | { readonly kind: 'header'; readonly header: CastHeader }
  | { readonly kind: 'event'; readonly event: CastEvent };

/**
 * Reads a recording as it streams in: first its header, then its events. Nothing is
 * guessed: a line that isn't exactly what asciicast v2 says ends the reading.
 * Throws CodedError CAST_BAD_HEADER, CAST_BAD_EVENT, CAST_LINE_TOO_LONG,
 * CAST_TOO_MANY_EVENTS, CAST_CUT_OFF, all with the `line` they happened on.
 */
export async function* readCast(
  source: AsyncIterable<Uint8Array>,
  limits: Partial<CastReadLimits> = {},
): AsyncGenerator<CastPart, void, undefined> {
  const parser = new CastParser({ ...castReadLimits, ...limits });
  for await (const chunk of source) yield* parser.push(chunk);
  parser.end();
}

/** The same from a file; a file system's error passes through as it is. */
export function readCastFile(
  path: string,
  limits: Partial<CastReadLimits> = {},
): AsyncGenerator<CastPart, void, undefined> {
  return readCast(createReadStream(path), limits);
}

/** The same of a whole recording that is in memory already. */
export function parseCast(
  text: string | Uint8Array,
  limits: Partial<CastReadLimits> = {},
): { readonly header: CastHeader; readonly events: readonly CastEvent[] } {
  const parser = new CastParser({ ...castReadLimits, ...limits });
  const events: CastEvent[] = [];
  let header: CastHeader | undefined;
  for (const part of parser.push(typeof text === 'string' ? Buffer.from(text) : text)) {
    if (part.kind === 'header') header = part.header;
    else events.push(part.event);
  }
  parser.end();
  if (!header) throw problem('CAST_BAD_HEADER', 1, 'the recording is empty');
  return { header, events };
}

function problem(code: CastErrorCode, line: number, what: string): CodedError<CastErrorCode> {
  return new CodedError(code, `line ${line} of the recording: ${what}`, { details: { line } });
}

class CastParser {
  readonly #limits: CastReadLimits;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #line = 0;
  #events = 0;
  #lastSeconds = 0;

  constructor(limits: CastReadLimits) {
    this.#limits = limits;
  }

  *push(chunk: Uint8Array): Generator<CastPart, void, undefined> {
    // A long line arrives in many chunks: only what is new is searched for its end.
    let text = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = this.#rest + text.slice(0, end);
      this.#rest = '';
      text = text.slice(end + 1);
      this.#line += 1;
      this.#checkLength(line.length);
      if (this.#line === 1) yield { kind: 'header', header: readHeader(line) };
      else yield { kind: 'event', event: this.#event(line) };
    }
    this.#rest += text;
    this.#line += 1;
    this.#checkLength(this.#rest.length);
    this.#line -= 1;
  }

  end(): void {
    const rest = this.#rest + this.#decoder.end();
    if (rest !== '')
      throw problem('CAST_CUT_OFF', this.#line + 1, 'it has no end; leave it out to read the rest');
    if (this.#line === 0) throw problem('CAST_BAD_HEADER', 1, 'the recording is empty');
  }

  #checkLength(length: number): void {
    if (length > this.#limits.maxLineCharacters)
      throw problem(
        'CAST_LINE_TOO_LONG',
        this.#line,
        `more than ${this.#limits.maxLineCharacters} characters; raise maxLineCharacters to read it`,
      );
  }

  #event(line: string): CastEvent {
    this.#events += 1;
    if (this.#events > this.#limits.maxEvents)
      throw problem(
        'CAST_TOO_MANY_EVENTS',
        this.#line,
        `more than ${this.#limits.maxEvents} events; raise maxEvents to read it`,
      );
    const bad = (what: string): CodedError<CastErrorCode> =>
      problem('CAST_BAD_EVENT', this.#line, what);
    const value = parseJson(line);
    if (!Array.isArray(value) || value.length !== 3) throw bad('an event is [seconds, kind, data]');
    const [atSeconds, kind, data] = value as readonly unknown[];
    if (typeof atSeconds !== 'number' || !(atSeconds >= this.#lastSeconds))
      throw bad('its time is no number, or earlier than the one before');
    if (typeof data !== 'string') throw bad('its data is not a text');
    this.#lastSeconds = atSeconds;
    if (kind === 'o' || kind === 'i' || kind === 'm') return { kind, atSeconds, data };
    if (kind !== 'r') throw bad('its kind is none of o, i, m, r');
    const size = /^(\d{1,5})x(\d{1,5})$/.exec(data);
    const [cols, rows] = [Number(size?.[1]), Number(size?.[2])];
    if (!(cols >= 1 && rows >= 1)) throw bad('a size is like 100x32');
    return { kind, atSeconds, cols, rows };
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined;
    throw failure;
  }
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 99_999;
}

function readHeader(line: string): CastHeader {
  const bad = (what: string): CodedError<CastErrorCode> => problem('CAST_BAD_HEADER', 1, what);
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad('it is no JSON object');
  const { version, width, height, timestamp, title, env } = value as Readonly<
    Record<string, unknown>
  >;
  if (version !== 2) throw bad('only asciicast version 2 can be read');
  if (!isSize(width) || !isSize(height)) throw bad('width and height must be whole numbers from 1');
  if (timestamp !== undefined && typeof timestamp !== 'number')
    throw bad('timestamp must be a number');
  if (title !== undefined && typeof title !== 'string') throw bad('title must be a text');
  if (env !== undefined && !isTextRecord(env)) throw bad('env must hold texts');
  return {
    width,
    height,
    ...(timestamp !== undefined && { timestamp }),
    ...(title !== undefined && { title }),
    ...(env !== undefined && { env }),
  };
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((item) => typeof item === 'string')
  );
}
