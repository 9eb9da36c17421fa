import { mkdir, readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, Logger } from '@ostler/runtime';
import { z } from 'zod';
import { DirectoryWatch } from './directory-watch.js';

/** Hook files read in one go; more wait for the next. */
const maxFilesPerRead = 256;
const maxHookFileBytes = 4 * 1024 * 1024;
const hookTimeoutSeconds = 10;

/** What Claude Code hands a hook, as far as it is used (claude 2.1.280, 2.1.328). */
export interface HookEvent {
  readonly hook_event_name: string;
  readonly session_id?: string | undefined;
  readonly transcript_path?: string | undefined;
  readonly source?: string | undefined;
  readonly prompt?: string | undefined;
}

const schema: z.ZodType<HookEvent> = z.looseObject({
  hook_event_name: z.string(),
  session_id: z.string().optional(),
  transcript_path: z.string().optional(),
  source: z.string().optional(),
  prompt: z.string().optional(),
});

const installedHooks = ['UserPromptSubmit', 'SessionStart', 'SessionEnd'];

export function hookDirectory(sessionDir: string): string {
  return path.join(sessionDir, 'claude-hooks');
}

/**
 * Writes a settings file for `--settings` whose hooks hand every event over as a
 * file of its own, and returns its path. The user's files stay as they are.
 */
export async function installHooks(sessionDir: string): Promise<string> {
  const directory = hookDirectory(sessionDir);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const script = path.join(sessionDir, 'claude-hook.sh');
  await writeFile(script, hookScript(directory), { mode: 0o700 });
  const hook = {
    type: 'command',
    command: `sh ${shellQuoted(script)}`,
    timeout: hookTimeoutSeconds,
  };
  const hooks = Object.fromEntries(installedHooks.map((name) => [name, [{ hooks: [hook] }]]));
  const settings = path.join(sessionDir, 'claude-settings.json');
  await writeFile(settings, JSON.stringify({ hooks }), { mode: 0o600 });
  return settings;
}

/** Says nothing and always succeeds: a hook that fails or talks would change the turn. */
function hookScript(directory: string): string {
  const target = shellQuoted(directory);
  return `#!/bin/sh
# Hands one hook event over as one file; the rename makes it appear whole.
umask 077
part=$(mktemp ${target}/.part.XXXXXXXX 2>/dev/null) || { cat >/dev/null; exit 0; }
cat >"$part" && mv "$part" ${target}/"event-\${part##*.part.}.json"
exit 0
`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Reads the hook files as they appear, oldest first, and takes each away. */
export class HookInbox implements AsyncDisposable {
  readonly #directory: string;
  readonly #onEvent: (event: HookEvent, atMs: number) => void;
  readonly #logger: Logger;
  readonly #watch: DirectoryWatch;
  #running: Promise<void> | null = null;
  #again = false;
  #disposed = false;

  constructor(options: {
    directory: string;
    clock: Clock;
    logger: Logger;
    onEvent: (event: HookEvent, atMs: number) => void;
  }) {
    this.#directory = options.directory;
    this.#onEvent = options.onEvent;
    this.#logger = options.logger;
    this.#watch = new DirectoryWatch({
      directory: options.directory,
      clock: options.clock,
      onChange: () => this.#wake(),
    });
    this.#wake();
  }

  attend(): void {
    this.#watch.attend();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#watch[Symbol.dispose]();
    while (this.#running) await this.#running;
  }

  #wake(): void {
    if (this.#disposed) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#readAll();
      } catch (failure) {
        this.#logger.warn({ failure: String(failure) }, 'hook files not readable');
      }
    } while (this.#again && !this.#disposed);
  }

  async #readAll(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => /^event-.*\.json$/.test(name));
    if (names.length > maxFilesPerRead) this.#again = true;
    const files = await Promise.all(
      names.slice(0, maxFilesPerRead).map(async (name) => {
        const file = path.join(this.#directory, name);
        const { mtimeMs, size } = await stat(file);
        return { file, mtimeMs, size };
      }),
    );
    for (const { file, mtimeMs, size } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      const event = size > maxHookFileBytes ? null : parseHook(await readFile(file, 'utf8'));
      await unlink(file);
      if (this.#disposed) return;
      if (event) this.#onEvent(event, Math.round(mtimeMs));
      else this.#logger.warn({ size }, 'hook file not understood');
    }
  }
}

function parseHook(text: string): HookEvent | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch (failure) {
    if (failure instanceof SyntaxError || failure instanceof z.ZodError) return null;
    throw failure;
  }
}
