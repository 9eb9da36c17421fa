import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { CodedError } from '@ostler/runtime';

/** Reads a JSON body. Throws CodedError BODY_TOO_LARGE, BODY_ENCODING_UNKNOWN, BODY_NOT_JSON. */
export async function readBody(http: IncomingMessage, maxBodyBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of http) {
    const piece = chunk as Buffer;
    size += piece.length;
    if (size > maxBodyBytes) {
      throw new CodedError('BODY_TOO_LARGE', `The request is larger than ${maxBodyBytes} bytes.`);
    }
    chunks.push(piece);
  }
  const encoding = http.headers['content-encoding'] ?? 'identity';
  const text = decode(Buffer.concat(chunks), encoding, maxBodyBytes).toString('utf8');
  try {
    return JSON.parse(text === '' ? 'null' : text);
  } catch (cause) {
    throw new CodedError('BODY_NOT_JSON', 'The request body is not JSON.', { cause });
  }
}

function decode(body: Buffer, encoding: string, maxOutputLength: number): Buffer {
  if (encoding === 'identity') return body;
  if (encoding === 'gzip') return gunzipSync(body, { maxOutputLength });
  if (encoding === 'br') return brotliDecompressSync(body, { maxOutputLength });
  throw new CodedError(
    'BODY_ENCODING_UNKNOWN',
    `The request is encoded as ${encoding}; turn request compression off in the engine.`,
  );
}
