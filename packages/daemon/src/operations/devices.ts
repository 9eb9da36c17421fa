import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Caller } from '../caller.js';

export function add(
  { parts: { devices } }: Caller,
  { name }: RequestOf<'device.add'>,
): ResultOf<'device.add'> {
  return devices.add(name);
}

export function list({ parts: { devices } }: Caller): ResultOf<'device.list'> {
  return { devices: devices.list() };
}

export function revoke(
  { parts: { devices, revokeDevice } }: Caller,
  { deviceId }: RequestOf<'device.revoke'>,
): ResultOf<'device.revoke'> {
  devices.revoke(deviceId);
  revokeDevice(deviceId);
  return {};
}

/** The answer still goes out; the connection ends behind it. */
export function revokeOwn({
  parts: { devices, revokeDevice },
  view,
}: Caller): ResultOf<'pair.revoke'> {
  devices.revoke(view.deviceId);
  setImmediate(() => revokeDevice(view.deviceId));
  return {};
}

export function serverStatus({ parts }: Caller): ResultOf<'server.status'> {
  return parts.serverStatus();
}
