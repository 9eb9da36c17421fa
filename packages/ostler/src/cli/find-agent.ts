import type { AgentSummary } from '@ostler/protocol';
import { CodedError } from '@ostler/runtime';
import type { DaemonClient } from './daemon-client.js';
import { allAgents } from './whole-lists.js';

/** The running agent of a name, or of an agent id. Throws CodedError AGENT_NOT_FOUND. */
export async function findAgent(client: DaemonClient, name: string): Promise<AgentSummary> {
  const { agents } = await allAgents(client);
  const found = agents.find((agent) => agent.name === name || agent.agentId === name);
  if (found) return found;
  const running = agents.map((agent) => agent.name).join(', ');
  throw new CodedError(
    'AGENT_NOT_FOUND',
    running === ''
      ? 'no agent runs; start one with: ostler run NAME --engine ENGINE'
      : `no agent is named ${name}; running: ${running}`,
  );
}

export function targetOf(agent: AgentSummary): {
  readonly machineId: string;
  readonly agentId: string;
} {
  return { machineId: agent.machineId, agentId: agent.agentId };
}
