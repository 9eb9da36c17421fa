import type { Operation, RequestOf, ResultOf } from '@ostler/protocol';
import type { Caller } from '../caller.js';
import * as agents from './agents.js';
import * as devices from './devices.js';
import * as focus from './focus.js';
import * as receipts from './receipts.js';
import * as streams from './streams.js';
import * as terminals from './terminals.js';
import * as turns from './turns.js';

type Handler<Name extends Operation> = (
  caller: Caller,
  request: RequestOf<Name>,
) => ResultOf<Name> | Promise<ResultOf<Name>>;

type Table = { readonly [Name in Exclude<Operation, 'hello'>]: Handler<Name> };

const remote = {
  'agents.list': agents.list,
  status: agents.status,
  recap: turns.recap,
  'turn.send': turns.send,
  'turn.stop': turns.stop,
  'question.answer': turns.answer,
  'receipt.get': receipts.get,
  'receipt.wait': receipts.wait,
  'receipts.list': receipts.list,
  'focus.get': focus.get,
  'focus.set': focus.set,
  'agent.subscribe': streams.subscribe,
  'agent.unsubscribe': streams.unsubscribe,
  'pair.revoke': devices.revokeOwn,
} satisfies Partial<Table>;

/** Every operation but `hello`, which a connection answers itself. */
export const operations: Table = {
  ...remote,
  'agent.launch': agents.launch,
  'agent.sessions': agents.sessions,
  'agent.close': agents.close,
  'agent.resize': agents.resize,
  'agent.screen': agents.screen,
  'agent.attach': terminals.attach,
  'agent.detach': terminals.detach,
  'agent.input': terminals.input,
  'agent.size': terminals.size,
  'receipt.resolve': receipts.resolve,
  'server.status': devices.serverStatus,
  'device.add': devices.add,
  'device.list': devices.list,
  'device.revoke': devices.revoke,
};

export const remoteOperations: readonly Operation[] = Object.keys(remote) as Operation[];
/** The machine's own user may ask for everything but to give up a pairing it doesn't have. */
export const localOperations: readonly Operation[] = (
  Object.keys(operations) as Operation[]
).filter((name) => name !== 'pair.revoke');
