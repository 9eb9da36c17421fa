export { openSqliteInboxStorage, type SqliteInboxOptions } from './sqlite-inbox-storage.js';
