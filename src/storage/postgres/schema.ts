import type pg from 'pg';
import { type AppliedMigration, selectMigrations, toAppliedMigration } from '../migrations.ts';

// What the catalogs say about the schema.

/** The migrations that the database has applied; none if it was never migrated. */
export async function appliedMigrations(client: pg.ClientBase): Promise<AppliedMigration[]> {
  const table = await client.query("select to_regclass('schema_migration') is not null as found");
  if (table.rows[0]?.found !== true) return [];
  const { rows } = await client.query(selectMigrations);
  return rows.map(toAppliedMigration);
}
