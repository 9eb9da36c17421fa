import type { RequestOf, ResultOf } from '@ostler/protocol';
import type { Connection } from '../connection.js';

export function add(
  { parts: { devices } }: Connection,
  { name }: RequestOf<'device.add'>,
): ResultOf<'device.add'> {
  return devices.add(name);
}

export function list({ parts: { devices } }: Connection): ResultOf<'device.list'> {
  return { devices: devices.list() };
}

export function revoke(
  { parts: { devices, revokeDevice } }: Connection,
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
}: Connection): ResultOf<'pair.revoke'> {
  devices.revoke(view.deviceId);
  setImmediate(() => revokeDevice(view.deviceId));
  return {};
}

export async function serverStatus({ parts }: Connection): Promise<ResultOf<'server.status'>> {
  return (await parts.serverStatus()) as ResultOf<'server.status'>;
}
