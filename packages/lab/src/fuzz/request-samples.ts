import type { Operation } from '@ostler/protocol';
import type { Chance } from '../simulation/random.js';

export type Fields = Record<string, unknown>;

/** The machine the requests are for. */
export const machineId = 'machine-1';
const target = { machineId, agentId: 'agent-1' };
const key = { idempotencyKey: 'key_-1' };

/** Each operation's own fields, the optional ones too: written down again, from the contract. */
export const sampleFields: { readonly [Name in Operation]: Fields } = {
  hello: {
    proto: 1,
    token: 'secret',
    capabilities: ['input.status.v1'],
    resume: { serverInstanceId: 's', cursor: 0 },
  },
  'agents.list': {},
  status: target,
  recap: { ...target, n: 3 },
  'turn.send': { ...target, ...key, text: 'hello', focusRevision: 1 },
  'turn.stop': { ...target, ...key },
  'question.answer': {
    ...target,
    ...key,
    questionRequestId: 'q-1',
    answers: { Colour: 'red' },
    focusRevision: 0,
  },
  'receipt.get': key,
  'receipt.wait': { ...key, until: 'started', timeoutMs: 1_000 },
  'receipts.list': { state: 'all', agentId: 'agent-1', limit: 10 },
  'focus.get': {},
  'focus.set': { machineId, agentId: null },
  'agent.subscribe': { ...target, ttlSec: 60, include: ['tool', 'final'] },
  'agent.unsubscribe': target,
  'pair.revoke': {},
  'agent.launch': {
    name: 'agent-1',
    engine: 'claude',
    command: 'claude',
    args: ['--model', 'x'],
    cwd: '/work',
    env: { PATH: '/bin' },
    cleanEnv: true,
    cols: 100,
    rows: 32,
    castPath: '/tmp/a.cast',
    isolate: false,
  },
  'agent.sessions': {},
  'agent.close': target,
  'agent.resize': { ...target, cols: 80, rows: 24 },
  'agent.screen': target,
  'agent.attach': { ...target, readOnly: true, cols: 80, rows: 24 },
  'agent.detach': { attachId: 'a-1' },
  'agent.input': { attachId: 'a-1', data: 'aGVsbG8=' },
  'agent.size': { attachId: 'a-1', cols: 80, rows: 24 },
  'receipt.resolve': { ...target, deliveryId: 'd-1', outcome: 'submitted' },
  'server.status': {},
  'device.add': { name: 'phone' },
  'device.list': {},
  'device.revoke': { deviceId: 'd-1' },
};

const operations = Object.keys(sampleFields) as [Operation, ...Operation[]];

export function requestId(chance: Chance): string {
  const hex = (count: number): string =>
    Array.from({ length: count }, () => chance.int(0, 15).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${chance.pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`;
}

/** A request that is right, its optional fields there or not. */
export function goodRequest(chance: Chance): Fields & { readonly type: Operation } {
  const type = chance.pick(operations);
  const fields = { ...sampleFields[type] };
  for (const name of ['focusRevision', 'token', 'capabilities', 'resume', 'n', 'include', 'ttlSec'])
    if (chance.is(0.4)) delete fields[name];
  const entries = Object.entries({ requestId: requestId(chance), ...fields });
  return { type, ...Object.fromEntries(chance.is(0.5) ? entries : entries.reverse()) };
}
