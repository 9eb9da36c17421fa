export { type FoundFile, openSharedFile, type SharedFileOptions } from './shared-file.js';
export {
  type Row,
  type SharedDatabase,
  type SqlStatement,
  type SqlValue,
} from './shared-database.js';
export { readForeignDatabase } from './foreign-database.js';
