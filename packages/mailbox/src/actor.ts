import type { Environment, MailDoor } from '@ostler/engines/doors';
import { CodedError } from '@ostler/runtime';
import { mailError } from './mail-error.js';
import type { Mailbox } from './mailbox.js';
import type { Peer } from './rows.js';
import type { TerminalSession } from './terminal-notifier.js';

export interface ActorRequest {
  /** What the speaker says of itself: a routing assertion. */
  readonly asserted: string | undefined;
  readonly env: Environment;
  /** The session of the terminal this process runs in, where its registry was asked. */
  readonly terminal?: TerminalSession | null;
  readonly doors: readonly MailDoor[];
}

/**
 * Who speaks. Inside a terminal that Ostler owns (`OSTLER_AGENT_ID`) the session is known and
 * needs no assertion: by its registry, else by `OSTLER_ENGINE` with the `OSTLER_SESSION_ID` it
 * began with, else by the engine's own variable. Elsewhere it is `--as`, OSTLER_PEER, or the
 * HTALK_PEER of the other program. An engine's own variable that names another session refuses
 * the assertion; it is a guard against mistakes, not authentication.
 */
export function actorOf(mailbox: Mailbox, request: ActorRequest): Peer {
  const { asserted, env, doors } = request;
  const known = peerOfTerminal(mailbox, request);
  const name = [asserted, env['OSTLER_PEER'], env['HTALK_PEER']].find(
    (value) => value !== undefined && value !== '',
  );
  if (name === undefined) {
    if (known !== null) return known;
    throw mailError(
      'peer_required_use_as_or_OSTLER_PEER',
      'say who is speaking: --as NAME, or OSTLER_PEER',
    );
  }
  const peer = mailbox.peer(name);
  const session = doors.find(({ engine }) => engine === peer.harness)?.sessionOf(env) ?? null;
  if (session !== null && session.sessionId !== peer.session_id) {
    throw new CodedError(
      session.conflict,
      `${peer.name} is session ${peer.session_id}, and this is ${session.sessionId}; use the peer of this session`,
      {
        details: { registered_session_id: peer.session_id, current_session_id: session.sessionId },
      },
    );
  }
  if (known !== null && known.name !== peer.name) {
    throw mailError(
      'actor_conflicts_with_terminal',
      `this terminal is the peer ${known.name}; leave the name out`,
      { registered_peer: known.name },
    );
  }
  return peer;
}

function peerOfTerminal(
  mailbox: Mailbox,
  { doors, env, terminal = null }: ActorRequest,
): Peer | null {
  if ((env['OSTLER_AGENT_ID'] ?? '') === '') return null;
  if (terminal !== null) return mailbox.peerOfSession(terminal.engine, terminal.sessionId);
  const { OSTLER_ENGINE: engine, OSTLER_SESSION_ID: sessionId } = env;
  if (engine !== undefined && sessionId !== undefined) {
    return mailbox.peerOfSession(engine, sessionId);
  }
  for (const door of doors) {
    const session = door.sessionOf(env);
    if (session !== null) return mailbox.peerOfSession(door.engine, session.sessionId);
  }
  return null;
}
