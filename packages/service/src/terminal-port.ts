import type { TerminalPort } from '@ostler/controller';
import type {
  AgentTerminal,
  GuardedWriteOutcome,
  LeaseToken,
  WriteOutcome,
} from '@ostler/terminal';

/** How long a look waits for the end of a half painted frame. */
const frameEndMs = 100;

/** The controller's view of an agent's terminal. */
export function terminalPort(
  terminal: Pick<AgentTerminal, 'look' | 'onChange' | 'isSameProcessAlive' | 'writer'>,
): TerminalPort {
  return {
    look: () => terminal.look({ frameEndMs }),
    onChange: (listener) => terminal.onChange(() => listener()),
    isSameProcessAlive: () => terminal.isSameProcessAlive(),
    personWrites: () => terminal.writer.personWrites,
    acquire: () => ({ fence: terminal.writer.acquire() }),
    release: ({ fence }) => terminal.writer.release(fence as LeaseToken),
    paste: async ({ fence }, frames) =>
      writeOutcome(await terminal.writer.paste(fence as LeaseToken, frames)),
    press: async ({ fence }, keys) =>
      writeOutcome(await terminal.writer.write(fence as LeaseToken, keys)),
  };
}

const writeOutcome = (outcome: GuardedWriteOutcome): WriteOutcome =>
  outcome.kind === 'refused' ? { kind: 'nothing_written', reason: outcome.reason } : outcome;
