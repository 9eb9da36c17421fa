import { mailError } from './mail-error.js';

export const maxBodyBytes = 32_000;
export const maxWaitSeconds = 45;

const peerName = /^[a-z0-9][a-z0-9_-]{0,63}$/u;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/iu;
/** White space and separators of every program that reads the file; C0's are among them. */
const blank = /^[\s\u001c-\u001f\u0085\u180e\ufeff]*$/u;

export function checkPeerName(name: string): void {
  if (!peerName.test(name)) throw mailError('invalid_peer_name');
}

/** The id in its one form. Throws CodedError invalid_uuid. */
export function checkUuid(value: string): string {
  if (!uuid.test(value)) throw mailError('invalid_uuid', `"${value.slice(0, 80)}" is not a UUID`);
  const digits = value.replaceAll('-', '').toLowerCase();
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-');
}

export function checkBody(body: string): void {
  if (/\p{Surrogate}/u.test(body)) throw mailError('message_must_be_text');
  if (blank.test(body) || Buffer.byteLength(body, 'utf8') > maxBodyBytes) {
    throw mailError('message_must_be_1_to_32000_bytes');
  }
}

export function checkWaitSeconds(seconds: number): void {
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > maxWaitSeconds) {
    throw mailError('wait_seconds_must_be_between_0_and_45');
  }
}
