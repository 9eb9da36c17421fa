import { everyPage, type FocusState, type Receipt, type ResultOf } from '@ostler/protocol';
import type { Call, FieldsOf } from './operations.js';
import type { TerminalAttachment } from './terminal-attachment.js';

/** A request about one agent; the machine is the one that is connected where left out. */
type OnMachine<Fields extends { readonly machineId: string }> = Omit<Fields, 'machineId'> & {
  readonly machineId?: string;
};
type About<Name extends 'status' | 'recap' | 'agent.close' | 'agent.screen'> = OnMachine<
  FieldsOf<Name>
>;

export interface CallGroups {
  readonly turn: {
    /** Submits a text at most once for its idempotency key, however often it is called. */
    send(
      fields: OnMachine<FieldsOf<'turn.send'>>,
      signal?: AbortSignal,
    ): Promise<ResultOf<'turn.send'>>;
    stop(
      fields: OnMachine<FieldsOf<'turn.stop'>>,
      signal?: AbortSignal,
    ): Promise<ResultOf<'turn.stop'>>;
  };
  readonly receipt: {
    /** Null proves nothing: receipts leave. */
    get(idempotencyKey: string, signal?: AbortSignal): Promise<Receipt | null>;
    /** Waiting changes nothing. */
    wait(fields: FieldsOf<'receipt.wait'>, signal?: AbortSignal): Promise<ResultOf<'receipt.wait'>>;
    list(fields?: FieldsOf<'receipts.list'>, signal?: AbortSignal): Promise<readonly Receipt[]>;
    /** A person's word on an input in doubt. */
    resolve(fields: OnMachine<FieldsOf<'receipt.resolve'>>, signal?: AbortSignal): Promise<void>;
  };
  readonly question: {
    answer(
      fields: OnMachine<FieldsOf<'question.answer'>>,
      signal?: AbortSignal,
    ): Promise<ResultOf<'question.answer'>>;
  };
  readonly focus: {
    get(signal?: AbortSignal): Promise<FocusState>;
    set(fields: OnMachine<FieldsOf<'focus.set'>>, signal?: AbortSignal): Promise<FocusState>;
  };
  readonly agents: {
    list(signal?: AbortSignal): Promise<ResultOf<'agents.list'>['agents']>;
  };
  readonly agent: {
    status(fields: About<'status'>, signal?: AbortSignal): Promise<ResultOf<'status'>>;
    recap(fields: About<'recap'>, signal?: AbortSignal): Promise<ResultOf<'recap'>['turns']>;
    launch(
      fields: FieldsOf<'agent.launch'>,
      signal?: AbortSignal,
    ): Promise<ResultOf<'agent.launch'>>;
    close(fields: About<'agent.close'>, signal?: AbortSignal): Promise<void>;
    resize(fields: OnMachine<FieldsOf<'agent.resize'>>, signal?: AbortSignal): Promise<void>;
    screen(fields: About<'agent.screen'>, signal?: AbortSignal): Promise<ResultOf<'agent.screen'>>;
    /** A view of the terminal, for one reader. */
    attach(
      fields: OnMachine<FieldsOf<'agent.attach'>>,
      signal?: AbortSignal,
    ): Promise<TerminalAttachment>;
    /** `stream` frames follow for `ttlSec`. They belong to the connection: subscribe again behind a lost one. */
    subscribe(
      fields: OnMachine<FieldsOf<'agent.subscribe'>>,
      signal?: AbortSignal,
    ): Promise<ResultOf<'agent.subscribe'>>;
    unsubscribe(
      fields: OnMachine<FieldsOf<'agent.unsubscribe'>>,
      signal?: AbortSignal,
    ): Promise<void>;
  };
  readonly device: {
    add(name: string, signal?: AbortSignal): Promise<ResultOf<'device.add'>>;
    list(signal?: AbortSignal): Promise<ResultOf<'device.list'>['devices']>;
    revoke(deviceId: string, signal?: AbortSignal): Promise<void>;
    /** Gives up this device's own pairing; the server ends the connection behind it. */
    revokeOwn(signal?: AbortSignal): Promise<void>;
  };
  readonly server: {
    status(signal?: AbortSignal): Promise<ResultOf<'server.status'>>;
  };
}

interface GroupParts {
  readonly machineId: () => string;
  readonly call: Call;
  readonly attach: (
    fields: FieldsOf<'agent.attach'>,
    signal?: AbortSignal,
  ) => Promise<TerminalAttachment>;
}

export function callGroups({ attach, call, machineId }: GroupParts): CallGroups {
  const here = <Fields extends { readonly machineId?: string }>(
    fields: Fields,
  ): Fields & { readonly machineId: string } => ({
    ...fields,
    machineId: fields.machineId ?? machineId(),
  });
  return {
    turn: {
      send: (fields, signal) => call('turn.send', here(fields), signal),
      stop: (fields, signal) => call('turn.stop', here(fields), signal),
    },
    receipt: {
      get: async (idempotencyKey, signal) =>
        (await call('receipt.get', { idempotencyKey }, signal)).receipt,
      wait: (fields, signal) => call('receipt.wait', fields, signal),
      list: async (fields = {}, signal) => (await call('receipts.list', fields, signal)).receipts,
      resolve: async (fields, signal) => void (await call('receipt.resolve', here(fields), signal)),
    },
    question: {
      answer: (fields, signal) => call('question.answer', here(fields), signal),
    },
    focus: {
      get: (signal) => call('focus.get', {}, signal),
      set: (fields, signal) => call('focus.set', here(fields), signal),
    },
    agents: {
      list: (signal) =>
        everyPage(async (from) => {
          const { agents, complete } = await call('agents.list', from, signal);
          return { items: agents, complete };
        }),
    },
    agent: {
      status: (fields, signal) => call('status', here(fields), signal),
      recap: async (fields, signal) => (await call('recap', here(fields), signal)).turns,
      launch: (fields, signal) => call('agent.launch', fields, signal),
      close: async (fields, signal) => void (await call('agent.close', here(fields), signal)),
      resize: async (fields, signal) => void (await call('agent.resize', here(fields), signal)),
      screen: (fields, signal) => call('agent.screen', here(fields), signal),
      attach: (fields, signal) => attach(here(fields), signal),
      subscribe: (fields, signal) => call('agent.subscribe', here(fields), signal),
      unsubscribe: async (fields, signal) =>
        void (await call('agent.unsubscribe', here(fields), signal)),
    },
    device: {
      add: (name, signal) => call('device.add', { name }, signal),
      list: async (signal) => (await call('device.list', {}, signal)).devices,
      revoke: async (deviceId, signal) => void (await call('device.revoke', { deviceId }, signal)),
      revokeOwn: async (signal) => void (await call('pair.revoke', {}, signal)),
    },
    server: {
      status: (signal) => call('server.status', {}, signal),
    },
  };
}
