import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type JsonValue } from './canonical-json.js';
import type { OstlerRequest } from './requests.js';

/**
 * What a request asks for, in 64 hex digits: SHA-256 of the canonical JSON of the validated
 * request without `requestId` and `idempotencyKey`. Two requests with one key are the same
 * request when, and only when, their digests are equal.
 */
export function intentDigest(request: OstlerRequest): string {
  const intent: Record<string, JsonValue | undefined> = { ...request };
  delete intent.requestId;
  delete intent.idempotencyKey;
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(intent))));
}
