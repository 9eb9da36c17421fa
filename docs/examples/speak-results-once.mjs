// Usage: node speak-results-once.mjs STATE_DIR INBOX_FILE [IDEMPOTENCY_KEY TEXT]
import { ResultFollower, ResultInbox } from '@ostler/client';
import { connectLocal } from '@ostler/client/node';
import { openSqliteInboxStorage } from '@ostler/client/node-inbox';

const [stateDir, path, idempotencyKey, text] = process.argv.slice(2);
const inbox = await ResultInbox.open({ storage: await openSqliteInboxStorage({ path }) });
const client = await connectLocal({ stateDir, resume: await inbox.resumePoint() });

let wake;
const hasNews = new Promise((resolve) => {
  wake = resolve;
});
const follower = new ResultFollower({
  client,
  inbox,
  onEffect: ({ effect, reason = '' }) => {
    console.log('result:', effect, reason);
    if (effect === 'stored') wake();
  },
  onError: (failure) => console.error(failure.code, failure.message),
});

if (idempotencyKey) {
  const [agent] = await client.agents.list();
  await follower.send({ agentId: agent.agentId, idempotencyKey, text });
}
await hasNews;
await follower.settled();

const speak = async ({ fullText }) => console.log('speaking:', fullText);
while ((await inbox.speakNext(speak)).kind === 'spoken');
for (const { resultId } of await inbox.uncertain()) console.log('perhaps spoken:', resultId);

await follower[Symbol.asyncDispose]();
await client.close();
await inbox[Symbol.asyncDispose]();
