import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of this tree, wherever the command was started. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A file's text, or null where there is no such file. */
export function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
