import SqliteDatabase from 'better-sqlite3';
import type { Row, SqlValue } from './shared-database.js';
import { fromSqlite } from './store-errors.js';

const busyWaitMs = 3000;
const maxRowsCount = 1000;

/**
 * Rows of another program's database, through a connection that can't write and doesn't make
 * the file. At most 1,000 rows. Throws StoreError.
 */
export function readForeignDatabase(
  path: string,
  sql: string,
  values: readonly SqlValue[],
): readonly Row[] {
  try {
    const connection = new SqliteDatabase(path, {
      readonly: true,
      fileMustExist: true,
      timeout: busyWaitMs,
    });
    try {
      const rows: Row[] = [];
      for (const row of connection.prepare<SqlValue[], Row>(sql).iterate(...values)) {
        rows.push(row);
        if (rows.length >= maxRowsCount) break;
      }
      return rows;
    } finally {
      connection.close();
    }
  } catch (error) {
    throw fromSqlite(error, path);
  }
}
