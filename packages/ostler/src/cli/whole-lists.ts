import { everyPage, type ResultOf } from '@ostler/protocol';
import type { DaemonClient } from './daemon-client.js';

/** Every running agent, however many frames that takes. */
export async function allAgents(
  client: DaemonClient,
): Promise<Omit<ResultOf<'agents.list'>, 'complete'>> {
  let machineId = '';
  const agents = await everyPage(async (from) => {
    const page = await client.call('agents.list', from);
    ({ machineId } = page);
    return { items: page.agents, complete: page.complete };
  });
  return { machineId, agents };
}

/** Every running agent whose engine tells its session. */
export function allSessions(client: DaemonClient): Promise<ResultOf<'agent.sessions'>['sessions']> {
  return everyPage(async (from) => {
    const { complete, sessions } = await client.call('agent.sessions', from);
    return { items: sessions, complete };
  });
}
