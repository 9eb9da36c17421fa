import { createConnection, type Socket } from 'node:net';
import { parseAction } from './parse-script.js';
import type { Action } from './script.js';
import type { TruthFields } from './truth.js';

const maxCommandCharacters = 256 * 1024;

/**
 * The agent's end of the control channel. One command a line: an action as JSON
 * (`{"do":"open","dialog":"permission"}`), or in words: `release NAME`, `open
 * KIND`, `close`, `exit`, `crash`, `shell`, `type TEXT`, `clear`, `resume`,
 * `boundary`, `end_turn`, `rotate_record`.
 */
export class ControlLink {
  readonly #socket: Socket;
  #pending = '';

  constructor(
    path: string,
    host: { onAction: (action: Action) => void; truth: (fields: TruthFields) => void },
  ) {
    this.#socket = createConnection(path);
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (data: string) => {
      this.#pending += data;
      if (this.#pending.length > maxCommandCharacters) this.#socket.destroy();
      const lines = this.#pending.split('\n');
      this.#pending = lines.pop() ?? '';
      for (const line of lines) {
        if (line.trim() === '') continue;
        const parsed = parseCommand(line);
        if (!parsed.ok) {
          host.truth({ event: 'refused', text: line, why: parsed.reason });
          continue;
        }
        host.onAction(parsed.action);
        host.truth({ event: 'done', text: line });
      }
    });
    // Whoever listened may go; the agent lives on and its truth file with it.
    this.#socket.on('error', () => this.#socket.destroy());
  }

  tell(line: string): void {
    if (this.#socket.writable) this.#socket.write(line);
  }

  close(): void {
    this.#socket.end();
  }
}

function parseCommand(line: string): ReturnType<typeof parseAction> {
  if (line.startsWith('{')) {
    try {
      return parseAction(JSON.parse(line));
    } catch {
      return { ok: false, reason: 'not JSON' };
    }
  }
  const [verb = '', ...rest] = line.trim().split(' ');
  const text = rest.join(' ');
  if (verb === 'release') return parseAction({ do: verb, name: text });
  if (verb === 'open') return parseAction({ do: verb, dialog: text });
  if (verb === 'type') return parseAction({ do: verb, text });
  return parseAction({ do: verb });
}
