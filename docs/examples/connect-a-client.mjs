// Usage: node connect-a-client.mjs STATE_DIR TEXT
import { randomUUID } from 'node:crypto';
import { connectLocal } from '@ostler/client/node';

const [stateDir, text] = process.argv.slice(2);
const client = await connectLocal({ stateDir });
client.on('receipt.updated', ({ payload: { receipt } }) => {
  console.log('receipt:', receipt.state, receipt.input?.phase ?? '');
});

const [agent] = await client.agents.list();
const message = { agentId: agent.agentId, idempotencyKey: randomUUID(), text };
try {
  await client.turn.send(message);
} catch (failure) {
  // Sent, and its answer lost: the same key again is the same request.
  if (failure.outcome !== 'unknown') throw failure;
  await client.turn.send(message);
}

const { idempotencyKey } = message;
const { waitEnded, receipt } = await client.receipt.wait({
  idempotencyKey,
  until: 'settled',
  timeoutMs: 60_000,
});
console.log(agent.name, waitEnded, receipt.state);
await client.close();
