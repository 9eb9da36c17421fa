import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Engine } from '@ostler/engines';
import { CodedError } from '@ostler/runtime';

const members = ['planLaunch', 'reader', 'observe'] as const;

/**
 * The engines of a module of the user's: its export `engines`, or its default one.
 * Throws CodedError ENGINE_MODULE_INVALID.
 */
export async function loadEngineModule(path: string): Promise<readonly Engine[]> {
  const invalid = (message: string, cause?: unknown): CodedError =>
    new CodedError('ENGINE_MODULE_INVALID', `${path}: ${message}`, { cause });
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(resolve(path)).href)) as typeof module;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`the module can't be loaded: ${reason}`, cause);
  }
  const engines = module['engines'] ?? module['default'];
  if (!Array.isArray(engines) || engines.length === 0) {
    throw invalid('export `engines`, a list of engines, by that name or as the default');
  }
  for (const [index, engine] of engines.entries()) {
    if (!isEngine(engine)) {
      throw invalid(`engines[${index}] needs an id and the functions ${members.join(', ')}`);
    }
  }
  return engines as readonly Engine[];
}

function isEngine(value: unknown): value is Engine {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return (
    typeof given['id'] === 'string' && members.every((name) => typeof given[name] === 'function')
  );
}

/** The user's own go first: one of a built-in's name takes its place. */
export function joinEngines(builtIn: readonly Engine[], own: readonly Engine[]): readonly Engine[] {
  const ids = new Set(own.map(({ id }) => id));
  return [...own, ...builtIn.filter(({ id }) => !ids.has(id))];
}
