import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SqlStatement } from '@ostler/store/sqlite';
import { checkPeerName, checkUuid } from './checked-input.js';
import type { MailFile } from './mail-file.js';
import { mailError } from './mail-error.js';
import { type Peer, peerOf } from './rows.js';

export interface NewPeer {
  readonly name: string;
  readonly harness: string;
  readonly sessionId: string;
  readonly workspace: string;
  readonly socket?: string | undefined;
}

/** The registered sessions: names for immutable addresses. */
export class Peers {
  readonly #file: MailFile;
  readonly #byName: SqlStatement;
  readonly #bySession: SqlStatement;
  readonly #all: SqlStatement;
  readonly #insert: SqlStatement;

  constructor(file: MailFile) {
    this.#file = file;
    this.#byName = file.prepare('SELECT * FROM peers WHERE name = ?');
    this.#bySession = file.prepare('SELECT * FROM peers WHERE harness = ? AND session_id = ?');
    this.#all = file.prepare('SELECT * FROM peers ORDER BY name');
    this.#insert = file.prepare(
      'INSERT INTO peers (name, harness, session_id, workspace, socket) VALUES (?, ?, ?, ?, ?)',
    );
  }

  /** Adding the same address again changes nothing. */
  add(wanted: NewPeer): Peer {
    checkPeerName(wanted.name);
    const peer: Peer = {
      name: wanted.name,
      harness: wanted.harness,
      session_id: checkUuid(wanted.sessionId),
      workspace: resolvedDirectory(wanted.workspace),
      socket: wanted.socket === undefined ? null : resolvedPath(wanted.socket),
    };
    return this.#file.write(() => {
      const there = this.find(peer.name);
      if (there !== null) {
        if (sameAddress(there, peer)) return there;
        throw mailError(
          'peer_already_has_a_different_address',
          `${peer.name} is bound to the ${there.harness} session ${there.session_id}; a separate session needs another name`,
          { registered_peer: there.name, registered_session_id: there.session_id },
        );
      }
      const named = this.ofSession(peer.harness, peer.session_id);
      if (named !== null) {
        throw mailError(
          'session_already_has_a_peer_name',
          `session ${peer.session_id} is the peer ${named.name} already; use that name`,
          { registered_peer: named.name, registered_session_id: named.session_id },
        );
      }
      this.#insert.run(peer.name, peer.harness, peer.session_id, peer.workspace, peer.socket);
      return peer;
    });
  }

  find(name: string): Peer | null {
    const row = this.#byName.get(name);
    return row === null ? null : peerOf(row);
  }

  /** Throws CodedError unknown_peer. */
  get(name: string): Peer {
    const peer = this.find(name);
    if (peer !== null) return peer;
    throw mailError('unknown_peer', `no peer is named "${name.slice(0, 80)}"; list them first`);
  }

  ofSession(harness: string, sessionId: string): Peer | null {
    const row = this.#bySession.get(harness, sessionId);
    return row === null ? null : peerOf(row);
  }

  list(): readonly Peer[] {
    return this.#all.all().map(peerOf);
  }
}

function sameAddress(one: Peer, other: Peer): boolean {
  return (
    one.harness === other.harness &&
    one.session_id === other.session_id &&
    one.workspace === other.workspace &&
    one.socket === other.socket
  );
}

function resolvedDirectory(path: string): string {
  let found: string;
  try {
    found = realpathSync(untilde(path));
  } catch (failure) {
    throw mailError('workspace_not_found', `${path} does not exist or can't be reached`, {
      code: (failure as NodeJS.ErrnoException).code,
    });
  }
  if (!statSync(found).isDirectory()) throw mailError('workspace_must_be_a_directory');
  return found;
}

/** A socket need not be there yet: then its directory's links alone are resolved. */
function resolvedPath(path: string): string {
  const absolute = resolve(untilde(path));
  try {
    return realpathSync(absolute);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return absolute;
    throw failure;
  }
}

function untilde(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}
