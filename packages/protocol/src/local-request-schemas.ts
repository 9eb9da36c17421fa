import { z } from 'zod';
import { maxLaunchArgsCount } from './constants.js';
import type { LocalRequest } from './local-requests.js';
import {
  cols,
  deviceName,
  environment,
  inputData,
  launchString,
  name,
  requestId,
  rows,
  target,
} from './request-fields.js';

/** Strict, as all requests are. */
export const localRequestSchemas: {
  readonly [Name in LocalRequest['type']]: z.ZodType<
    Extract<LocalRequest, { readonly type: Name }>
  >;
} = {
  'agent.launch': z.strictObject({
    type: z.literal('agent.launch'),
    requestId,
    name,
    engine: name,
    command: launchString.min(1).exactOptional(),
    args: z.array(launchString).max(maxLaunchArgsCount).exactOptional(),
    cwd: launchString.min(1),
    env: environment.exactOptional(),
    cleanEnv: z.boolean().exactOptional(),
    cols: cols.exactOptional(),
    rows: rows.exactOptional(),
    castPath: launchString.min(1).exactOptional(),
    isolate: z.boolean().exactOptional(),
  }),
  'agent.sessions': z.strictObject({
    type: z.literal('agent.sessions'),
    requestId,
    after: name.exactOptional(),
  }),
  'agent.close': z.strictObject({ type: z.literal('agent.close'), requestId, ...target }),
  'agent.resize': z.strictObject({
    type: z.literal('agent.resize'),
    requestId,
    ...target,
    cols,
    rows,
  }),
  'agent.screen': z.strictObject({ type: z.literal('agent.screen'), requestId, ...target }),
  'agent.attach': z.strictObject({
    type: z.literal('agent.attach'),
    requestId,
    ...target,
    readOnly: z.boolean().exactOptional(),
    cols: cols.exactOptional(),
    rows: rows.exactOptional(),
  }),
  'agent.detach': z.strictObject({ type: z.literal('agent.detach'), requestId, attachId: name }),
  'agent.input': z.strictObject({
    type: z.literal('agent.input'),
    requestId,
    attachId: name,
    data: inputData,
  }),
  'agent.size': z.strictObject({
    type: z.literal('agent.size'),
    requestId,
    attachId: name,
    cols,
    rows,
  }),
  'receipt.resolve': z.strictObject({
    type: z.literal('receipt.resolve'),
    requestId,
    ...target,
    deliveryId: name,
    outcome: z.enum(['submitted', 'not_submitted', 'unknown']),
  }),
  'server.status': z.strictObject({ type: z.literal('server.status'), requestId }),
  'device.add': z.strictObject({
    type: z.literal('device.add'),
    requestId,
    name: deviceName,
  }),
  'device.list': z.strictObject({ type: z.literal('device.list'), requestId }),
  'device.revoke': z.strictObject({
    type: z.literal('device.revoke'),
    requestId,
    deviceId: name,
  }),
};
