import type { Statement } from 'better-sqlite3';
import type { StoreDatabase } from './database.js';
import { storeError } from './store-errors.js';

const maxSettingCharacters = 4_096;
/** Beside the store's own rows of the same table. */
const prefix = 'setting:';

/** Small values under names. Writing belongs inside a transaction of the caller's. */
export class Settings {
  readonly #get: Statement<[string], { value: string }>;
  readonly #put: Statement<[string, string]>;
  readonly #remove: Statement<[string]>;

  constructor({ connection }: StoreDatabase) {
    this.#get = connection.prepare('SELECT value FROM meta WHERE key = ?');
    this.#put = connection.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)');
    this.#remove = connection.prepare('DELETE FROM meta WHERE key = ?');
  }

  get(name: string): string | null {
    return this.#get.get(prefix + name)?.value ?? null;
  }

  set(name: string, value: string | null): void {
    if (value === null) {
      this.#remove.run(prefix + name);
      return;
    }
    if (value.length > maxSettingCharacters) {
      throw storeError(
        'SETTING_TOO_LARGE',
        `a setting has at most ${maxSettingCharacters} characters`,
        null,
      );
    }
    this.#put.run(prefix + name, value);
  }
}
