import { homedir } from 'node:os';
import { join } from 'node:path';
import { createOstler } from 'ostler';

await using ostler = await createOstler({ stateDir: join(homedir(), '.my-app', 'ostler') });
const agent = await ostler.launch({ engine: 'claude', cwd: process.cwd() });

// Reserved on the disk before a byte is typed: the same key again is the same request.
await ostler.turnSend({
  agentId: agent.agentId,
  idempotencyKey: 'issue-42',
  text: 'Make the parser keep comments, then run its tests.',
});

const { receipt, waitEnded } = await ostler.receiptWait('issue-42', {
  until: 'accepted',
  timeoutMs: 60_000,
});
console.log(waitEnded, receipt.state, receipt.input?.phase, receipt.input?.evidence);
