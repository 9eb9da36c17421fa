import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedEngine, simulatedLaunch } from '@ostler/lab';
import { createOstler } from 'ostler';

const stateDir = await mkdtemp(join(tmpdir(), 'first-message-'));
const ostler = await createOstler({ stateDir, engines: [simulatedEngine] });
const simulated = await simulatedLaunch({
  script: { turns: [{ text: 'Hello', answer: 'Hello to you.' }] },
});

try {
  ostler.on('receipt.updated', ({ receipt }) => {
    const { phase, evidence = '' } = receipt.input ?? {};
    console.log(`receipt: ${receipt.state} ${phase} ${evidence}`.trimEnd());
  });

  const agent = await ostler.launch(simulated);
  const message = { agentId: agent.agentId, idempotencyKey: 'hello-1', text: 'Hello, agent.' };

  const first = await ostler.turnSend(message);
  const again = await ostler.turnSend(message);
  console.log('first:', first.status, '- again:', again.status);

  const { receipt } = await ostler.receiptWait('hello-1', { until: 'settled', timeoutMs: 20_000 });
  console.log('at last:', receipt.state);
  console.log('the agent was given:', JSON.stringify(simulated.control.received()));
} finally {
  await ostler.close();
  await simulated[Symbol.asyncDispose]();
  await rm(stateDir, { recursive: true, force: true });
}
