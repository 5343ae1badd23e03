import type pg from 'pg';
import { type AppliedMigration, selectMigrations, toAppliedMigration } from '../migrations.ts';
import { type RecordIndex, recordIndexes } from '../record-indexes.ts';

// What the catalogs say about the schema.

/** The migrations that the database has applied; none if it was never migrated. */
export async function appliedMigrations(client: pg.ClientBase): Promise<AppliedMigration[]> {
  const table = await client.query("select to_regclass('schema_migration') is not null as found");
  if (table.rows[0]?.found !== true) return [];
  const { rows } = await client.query(selectMigrations);
  return rows.map(toAppliedMigration);
}

/** The indexes of the records that a first load has left out. */
export async function missingIndexes(client: pg.ClientBase): Promise<readonly RecordIndex[]> {
  const { rows } = await client.query(
    `select relname from pg_index join pg_class on oid = indexrelid where indrelid = to_regclass('subscription')`,
  );
  const present = new Set(rows.map(({ relname }) => relname));
  return recordIndexes('postgres', await appliedMigrations(client)).filter(({ name }) => !present.has(name));
}
