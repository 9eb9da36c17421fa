import { realpathSync } from 'node:fs';
import type {
  OwnedTerminal,
  OwnedTerminals,
  Peer,
  TerminalSession,
  TypedPointer,
} from '@ostler/mailbox';
import type { AgentEngineSession, Receipt, ResultOf } from '@ostler/protocol';
import { CodedError, isCoded } from '@ostler/runtime';
import { DaemonClient } from '../daemon-client.js';
import { stateDirOf } from '../state-dir.js';
import { allSessions } from '../whole-lists.js';

/** How long a pointer may take to be accepted before its notification is in doubt. */
const acceptWithinMs = 10_000;
/** The wait's own answer comes no later than this behind it. */
const answerWithinMs = 5_000;

/** Where a daemon answers with these, it may have taken the request all the same. */
const inDoubt = ['DAEMON_GONE', 'TIMEOUT', 'ANSWER_UNREADABLE', 'INTERNAL'] as const;

export interface DaemonTerminalsOptions {
  readonly stateDir: string;
  readonly acceptWithinMs?: number;
}

/** The sessions that the daemon of a state directory owns; it is asked when it is needed, each time. */
export class DaemonTerminals implements OwnedTerminals {
  readonly #stateDir: string;
  readonly #acceptWithinMs: number;
  #unasked: CodedError | null = null;

  constructor(options: DaemonTerminalsOptions) {
    this.#stateDir = options.stateDir;
    this.#acceptWithinMs = options.acceptWithinMs ?? acceptWithinMs;
  }

  /** Why the daemon could not be asked the last time; null where it could, or was not needed. */
  get unasked(): CodedError | null {
    return this.#unasked;
  }

  /** Two terminals that claim one session are none. */
  async find(peer: Peer): Promise<OwnedTerminal | null> {
    const sessions = await this.#sessions();
    const own = sessions.filter((session) => isOf(session, peer));
    const [one] = own;
    if (one === undefined || own.length > 1) return null;
    return { agentId: one.agentId, engine: one.engine, version: one.version };
  }

  async sessionOf(agentId: string): Promise<TerminalSession | null> {
    const sessions = await this.#sessions();
    const found = sessions.find((session) => session.agentId === agentId);
    return found === undefined ? null : { engine: found.engine, sessionId: found.sessionId };
  }

  async type(
    { agentId }: OwnedTerminal,
    messageId: string,
    text: string,
    signal?: AbortSignal,
  ): Promise<TypedPointer> {
    await using client = await DaemonClient.connect(this.#stateDir);
    const { machineId } = await client.call('agents.list', {});
    let deliveryId: string | null = null;
    try {
      const sent = await client.call('turn.send', {
        machineId,
        agentId,
        idempotencyKey: messageId,
        text,
      });
      ({ deliveryId } = sent.receipt);
      const timeoutMs = this.#acceptWithinMs;
      const waited = await orAborted(
        client.call(
          'receipt.wait',
          { idempotencyKey: messageId, until: 'accepted', timeoutMs },
          timeoutMs + answerWithinMs,
        ),
        signal,
      );
      return waited === null ? open(deliveryId, 'aborted') : typedBy(waited.receipt);
    } catch (failure) {
      // Behind the request's own answer nothing is a refusal any more.
      if (isCoded(failure) && (deliveryId !== null || isCoded(failure, ...inDoubt))) {
        return open(deliveryId, failure.code);
      }
      throw failure;
    }
  }

  async #sessions(): Promise<ResultOf<'agent.sessions'>['sessions']> {
    try {
      await using client = await DaemonClient.connect(this.#stateDir);
      const answer = await allSessions(client);
      this.#unasked = null;
      return answer;
    } catch (failure) {
      if (failure instanceof CodedError) this.#unasked = failure;
      throw failure;
    }
  }
}

/** The daemon of `--state-dir`, OSTLER_STATE_DIR or the usual directory; none need run. */
export function daemonTerminals(stateDir: string | undefined): DaemonTerminals {
  return new DaemonTerminals({ stateDir: stateDirOf(stateDir) });
}

function isOf({ engine, sessionId, workspace }: AgentEngineSession, peer: Peer): boolean {
  return (
    engine === peer.harness &&
    sessionId === peer.session_id &&
    resolved(workspace) === peer.workspace
  );
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch (failure) {
    // It was removed since: then it is no longer what the peer was registered with.
    if ((failure as NodeJS.ErrnoException).code !== undefined) return path;
    throw failure;
  }
}

function typedBy({ deliveryId, error, input, state }: Receipt): TypedPointer {
  const reason = error?.code ?? input?.hold ?? input?.phase ?? null;
  const taken = input?.phase === 'accepted' || state === 'started' || state === 'completed';
  if (taken) return { deliveryId, outcome: 'accepted', reason };
  return state === 'rejected'
    ? { deliveryId, outcome: 'rejected', reason }
    : open(deliveryId, reason);
}

function open(deliveryId: string | null, reason: string | null): TypedPointer {
  return { deliveryId, outcome: 'open', reason };
}

/** Null where the signal was first; the answer is then nobody's. */
async function orAborted<Value>(
  answer: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value | null> {
  if (signal === undefined) return await answer;
  answer.catch(() => undefined);
  if (signal.aborted) return null;
  let stop: () => void = () => undefined;
  const aborted = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
