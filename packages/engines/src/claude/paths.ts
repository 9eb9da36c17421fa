import { realpathSync } from 'node:fs';
import path from 'node:path';

/** Where Claude Code keeps its state: `CLAUDE_CONFIG_DIR`, else `.claude` in the child's own HOME. */
export function configDirectory(env: Readonly<Record<string, string>>): string | null {
  const { CLAUDE_CONFIG_DIR: configured, HOME: home } = env;
  if (configured !== undefined && configured !== '') return configured;
  return home === undefined || home === '' ? null : path.join(home, '.claude');
}

/** `projects/<cwd, what isn't a letter or digit as ->/<uuid>.jsonl` (claude 2.1.280, 2.1.328). */
export function transcriptPath(configDir: string, cwd: string, sessionId: string): string {
  const folder = realDirectory(cwd).replace(/[^a-zA-Z0-9]/g, '-');
  return path.join(configDir, 'projects', folder, `${sessionId}.jsonl`);
}

export function statusPath(configDir: string, pid: number): string {
  return path.join(configDir, 'sessions', `${pid}.json`);
}

function realDirectory(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return path.resolve(cwd);
    throw failure;
  }
}
