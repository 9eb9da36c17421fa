// One life of a process that delivers, killed at a named point of it. Told what to do by its one argument;
// says on stdout, as lines of JSON, what it did and saw.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { simulatedEngine } from '@ostler/lab';
import { randomIds, silentLogger, systemClock } from '@ostler/runtime';
import { inProcessTerminals, Service } from '@ostler/service';
import { openStore } from '@ostler/store';
import { AgentTerminal, HostedPty, spawnPty } from '@ostler/terminal';
import { Hosts } from '../../dist/hosts.js';

const { adopt, epoch, hosted, killAt, launch, prelude, steps, stateDir } = JSON.parse(
  process.argv[2],
);
const say = (message) => void writeSync(1, `${JSON.stringify(message)}\n`);
const deviceId = 'local';
const restMs = 6_000;

let armed = false;
const crossed = new Map();
/** A point of this life. The process may die here. */
function cross(name) {
  if (!armed) return;
  const nth = (crossed.get(name) ?? 0) + 1;
  crossed.set(name, nth);
  say({ crossed: `${name} ${nth}` });
  if (`${name} ${nth}` === killAt) process.kill(process.pid, 'SIGKILL');
}

const commits = new Set([
  'reserve',
  'markDispatch',
  'markStep',
  'applyChange',
  'applyTogether',
  'appendEvent',
]);

function watched(store) {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!commits.has(name)) return value.bind(target);
      return (...args) => {
        const what = name === 'markStep' ? `${name}(${args[1]})` : name;
        cross(`before ${what}`);
        const result = value.apply(target, args);
        cross(`after ${what}`);
        return result;
      };
    },
  });
}

async function watchedWrite(write, data, mayWrite) {
  cross('before write');
  const outcome = await write(data, () => {
    const may = mayWrite ? mayWrite() : true;
    cross('write leaves');
    return may;
  });
  cross('after write');
  return outcome;
}

const ownTerminals = {
  async launch(options) {
    const endpoint = await spawnPty(options);
    const write = endpoint.write.bind(endpoint);
    endpoint.write = (data, mayWrite) => watchedWrite(write, data, mayWrite);
    return { terminal: new AgentTerminal({ endpoint }) };
  },
};

const hostedWrite = HostedPty.prototype.write;
HostedPty.prototype.write = function (data, mayWrite) {
  return watchedWrite(hostedWrite.bind(this), data, mayWrite);
};
const setMetadata = HostedPty.prototype.setMetadata;
HostedPty.prototype.setMetadata = function (metadata) {
  cross('before note');
  const kept = setMetadata.call(this, metadata);
  cross('after note');
  return kept;
};

const store = watched(openStore({ stateDir, clock: systemClock, ids: randomIds }));
const hosts = hosted
  ? new Hosts({
      dir: join(stateDir, 'hosts'),
      nextEpoch: () => epoch,
      clock: systemClock,
      logger: silentLogger,
    })
  : null;
const service = new Service({
  store,
  sessionsDir: join(stateDir, 'sessions'),
  engines: [simulatedEngine],
  clock: systemClock,
  ids: randomIds,
  logger: silentLogger,
  limits: {},
  maxAgents: 4,
  terminals: hosts ?? (inProcessTerminals && ownTerminals),
});
service.events.on('receipt.updated', ({ receipt }) => say({ receipt }));

let agentId = adopt;
if (launch) {
  const { args, command, cwd, engine, env } = launch;
  ({ agentId } = await service.launch({
    engine,
    name: 'one',
    command,
    args,
    cwd,
    env,
    cols: 80,
    rows: 24,
  }));
} else if (hosts) {
  const found = await hosts.findSessions(await hosts.findHosts());
  for (const { open, record } of found) await service.adopt(record, await open());
  say({ adopted: found.length });
}
say({ agentId });

const target = () => ({ machineId: service.machineId, agentId, requestId: randomIds.uuid() });
async function carryOut(step) {
  const { answers, idempotencyKey, text, until } = step;
  try {
    switch (step.do) {
      case 'send': {
        const request = { type: 'turn.send', ...target(), idempotencyKey, text };
        say({ answered: idempotencyKey, status: service.turnSend(deviceId, request).status });
        break;
      }
      case 'stop': {
        const request = { type: 'turn.stop', ...target(), idempotencyKey };
        say({ answered: idempotencyKey, status: service.turnStop(deviceId, request).status });
        break;
      }
      case 'answer': {
        const questionRequestId = service.agent(agentId).openQuestion?.requestId ?? 'none';
        const request = {
          type: 'question.answer',
          ...target(),
          idempotencyKey,
          questionRequestId,
          answers,
        };
        say({ answered: idempotencyKey, status: service.questionAnswer(deviceId, request).status });
        break;
      }
      case 'cancel': {
        const receipt = service.receiptGet(deviceId, idempotencyKey);
        service.agent(agentId).controller.cancel(receipt.deliveryId);
        break;
      }
      case 'wait':
        await service.receiptWait(deviceId, { idempotencyKey, until, timeoutMs: restMs });
        break;
      case 'tell':
        say({ told: step.what });
        await line();
        break;
      case 'passed':
        while (!crossed.has(step.point)) await pause();
        break;
      case 'rest':
        await rest();
        break;
    }
  } catch (failure) {
    say({ refused: idempotencyKey, code: failure.code ?? String(failure) });
  }
}

/** Holds the process, as the clock's own timers do not. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

/** Until nothing that was sent here moves any more, or the time for it is over. */
async function rest() {
  const untilMs = systemClock.monotonicMs() + restMs;
  const moving = () =>
    service.receipts(deviceId, { unresolvedOnly: true, maxCount: 64 }).some(({ input, state }) => {
      if (state === 'queued') return true;
      return state === 'delivered' && input?.phase === 'submitted';
    });
  while (moving() && systemClock.monotonicMs() < untilMs) {
    await pause();
  }
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const line = () => lines.next();

for (const step of prelude) await carryOut(step);
armed = true;
for (const step of steps) await carryOut(step);
armed = false;
for (const receipt of service.receipts(deviceId, { unresolvedOnly: false, maxCount: 64 })) {
  say({ left: receipt });
}
say({ ended: true });
await service.close();
await hosts?.[Symbol.asyncDispose]();
process.exit(0);
