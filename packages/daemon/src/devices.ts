import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DeviceSummary } from '@ostler/protocol';
import { type Clock, CodedError, type Ids } from '@ostler/runtime';

/** The machine's own user, on the Unix socket without a token. Not in the register. */
export const localDevice = 'local';

interface Device {
  readonly deviceId: string;
  readonly name: string;
  /** SHA-256 of the token, hex. The token itself is kept nowhere. */
  readonly tokenHash: string;
  readonly addedAtMs: number;
  lastSeenMs: number | null;
  revoked: boolean;
}

export type Identity =
  | { readonly kind: 'device'; readonly deviceId: string }
  | { readonly kind: 'revoked'; readonly deviceId: string }
  | { readonly kind: 'unknown' };

const fileName = 'devices.json';
const fileVersion = 1;
const tokenBytes = 32;

/**
 * Who may connect beside the machine's own user. Kept in `devices.json` (0600); written whole
 * and renamed into place, so that a crash leaves the old one or the new one.
 */
export class Devices {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #maxDevices: number;
  readonly #devices: Device[];

  /** Throws CodedError DEVICES_CORRUPT; the file is kept. */
  constructor(options: {
    readonly stateDir: string;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly maxDevices: number;
  }) {
    this.#path = join(options.stateDir, fileName);
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#maxDevices = options.maxDevices;
    this.#devices = devicesIn(this.#path);
  }

  get count(): number {
    return this.#devices.filter(({ revoked }) => !revoked).length;
  }

  list(): readonly DeviceSummary[] {
    return this.#devices.map(({ tokenHash: _, ...summary }) => summary);
  }

  /** The token is returned this once. Throws CodedError BACKPRESSURE, INVALID_REQUEST (the name is taken). */
  add(name: string): { readonly deviceId: string; readonly token: string } {
    const standing = this.#devices.filter(({ revoked }) => !revoked);
    if (standing.some((device) => device.name === name)) {
      throw new CodedError(
        'INVALID_REQUEST',
        `a device named "${name}" is there already; revoke it first, or choose another name`,
      );
    }
    if (standing.length >= this.#maxDevices) {
      throw new CodedError(
        'BACKPRESSURE',
        `${this.#maxDevices} devices are registered, which is the limit; revoke one first`,
      );
    }
    const token = `ostler_${randomBytes(tokenBytes).toString('base64url')}`;
    const deviceId = this.#ids.uuid();
    const added: Device = {
      deviceId,
      name,
      tokenHash: hashOf(token).toString('hex'),
      addedAtMs: this.#clock.nowMs(),
      lastSeenMs: null,
      revoked: false,
    };
    // Revoked ones are remembered so that their token is told what it is, as far as there is room.
    const revoked = this.#devices.filter((device) => device.revoked).slice(-this.#maxDevices);
    const next = [...revoked, ...standing, added];
    this.#write(next);
    this.#devices.splice(0, this.#devices.length, ...next);
    return { deviceId, token };
  }

  /** Throws CodedError INVALID_REQUEST where there is no such device. Idempotent. */
  revoke(deviceId: string): void {
    const device = this.#devices.find((candidate) => candidate.deviceId === deviceId);
    if (!device) {
      throw new CodedError('INVALID_REQUEST', 'there is no device with this id; see device.list');
    }
    if (device.revoked) return;
    this.#write(this.#devices.map((each) => (each === device ? { ...each, revoked: true } : each)));
    device.revoked = true;
  }

  /** Compares with every device in constant time, whichever matches. */
  identify(token: string): Identity {
    const hash = hashOf(token);
    let found: Device | null = null;
    for (const device of this.#devices) {
      if (timingSafeEqual(hash, Buffer.from(device.tokenHash, 'hex'))) found = device;
    }
    if (!found) return { kind: 'unknown' };
    const { deviceId, revoked } = found;
    if (revoked) return { kind: 'revoked', deviceId };
    found.lastSeenMs = this.#clock.nowMs();
    return { kind: 'device', deviceId };
  }

  /** Keeps when each was last seen. */
  save(): void {
    if (this.#devices.length > 0) this.#write(this.#devices);
  }

  #write(devices: readonly Device[]): void {
    const draft = `${this.#path}.new`;
    const handle = openSync(draft, 'w', 0o600);
    try {
      writeFileSync(handle, `${JSON.stringify({ version: fileVersion, devices }, null, 2)}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, this.#path);
    const dir = openSync(dirname(this.#path), 'r');
    try {
      fsyncSync(dir);
    } finally {
      closeSync(dir);
    }
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

function devicesIn(path: string): Device[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw failure;
  }
  try {
    const { devices, version } = JSON.parse(text) as { version: unknown; devices: unknown };
    if (version === fileVersion && Array.isArray(devices) && devices.every(isDevice)) {
      return devices;
    }
  } catch {
    // Said below, for every form of damage alike.
  }
  throw new CodedError(
    'DEVICES_CORRUPT',
    `${path} is damaged or of another version; restore it, or move it away and add the devices anew`,
  );
}

function isDevice(value: unknown): value is Device {
  if (typeof value !== 'object' || value === null) return false;
  const { addedAtMs, deviceId, lastSeenMs, name, revoked, tokenHash } = value as Partial<Device>;
  return (
    typeof deviceId === 'string' &&
    typeof name === 'string' &&
    typeof tokenHash === 'string' &&
    /^[0-9a-f]{64}$/.test(tokenHash) &&
    typeof addedAtMs === 'number' &&
    (lastSeenMs === null || typeof lastSeenMs === 'number') &&
    typeof revoked === 'boolean'
  );
}
