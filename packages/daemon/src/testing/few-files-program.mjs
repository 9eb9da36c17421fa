// A service that runs out of file descriptors, and gets them back. Says on stdout what became of each call.
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { simulatedEngine } from '@ostler/lab';
import { randomIds, silentLogger, systemClock } from '@ostler/runtime';
import { Service } from '@ostler/service';
import { openStore } from '@ostler/store';

const { launch, stateDir } = JSON.parse(process.argv[2]);
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const held = [];
const useUp = () => {
  for (;;) {
    try {
      held.push(openSync('/dev/null', 'r'));
    } catch (failure) {
      say({ usedUp: failure.code });
      return;
    }
  }
};
const giveBack = () => {
  for (const handle of held.splice(0)) closeSync(handle);
};
const outcome = async (what, call) => {
  try {
    const value = await call();
    say({ what, ok: true, ...(value?.status ? { status: value.status } : {}) });
    return value;
  } catch (failure) {
    say({ what, ok: false, code: failure.code, named: failure.constructor.name });
    return null;
  }
};

const open = (dir) => openStore({ stateDir: dir, clock: systemClock, ids: randomIds });
const service = new Service({
  store: open(stateDir),
  sessionsDir: join(stateDir, 'sessions'),
  engines: [simulatedEngine],
  clock: systemClock,
  ids: randomIds,
  logger: silentLogger,
  limits: {},
  maxAgents: 4,
});
const { args, command, cwd, engine, env } = launch;
const asked = { engine, command, args, cwd, env, cols: 80, rows: 24 };
const agent = await outcome('launch', () => service.launch(asked));
useUp();
await outcome('another store', () => open(join(stateDir, 'other')));
await outcome('another agent', () => service.launch(asked));
const send = (idempotencyKey) =>
  service.turnSend('local', {
    type: 'turn.send',
    requestId: randomIds.uuid(),
    machineId: service.machineId,
    agentId: agent.agentId,
    idempotencyKey,
    text: `sent as ${idempotencyKey}`,
  });
await outcome('send', () => send('without'));
giveBack();
await outcome('send', () => send('with'));
const wait = { idempotencyKey: 'with', until: 'started', timeoutMs: 10_000 };
const { receipt } = await service.receiptWait('local', wait);
say({ receipt });
say({ without: service.receiptGet('local', 'without') });
const again = await outcome('another agent', () => service.launch(asked));
say({ runs: again !== null });
await service.close();
