import type pg from 'pg';
import { StorageError } from '../error.ts';
import type { SqliteConnection } from '../sqlite/connection.ts';

/** A PostgreSQL table: its column types, and whether row-level security applies. */
export interface PostgresTable extends StoredTable {
  readonly types: readonly string[];
  readonly hasRowSecurity: boolean;
}

/** Types whose values SQLite stores without loss, as text or number. */
const knownTypes = ['text', 'bigint', 'integer', 'jsonb', 'boolean'];

/**
 * The tables of the database, in the order of the embedded store's tables. Throws `StorageError`
 * unless both engines have the same tables and columns.
 */
export async function describeTables(
  client: pg.ClientBase,
  tables: readonly StoredTable[],
): Promise<readonly PostgresTable[]> {
  const { rows } = await client.query<{ table: string; column: string; type: string; secure: boolean }>(selectColumns);
  const byTable = Map.groupBy(rows, ({ table }) => table);
  const known = (names: readonly string[]) => [...names].sort().join(', ');
  const differs =
    known([...byTable.keys()]) !== known(tables.map(({ name }) => name)) ||
    tables.some(
      ({ name, columns }) => known((byTable.get(name) ?? []).map(({ column }) => column)) !== known(columns),
    ) ||
    rows.some(({ type }) => !knownTypes.includes(type));
  if (differs) {
    throw new StorageError(
      'UNUSABLE',
      'Cannot copy the database: its schema must match this version of subreport; use the version that migrated it',
    );
  }
  return tables.map(({ name, columns }) => {
    const described = byTable.get(name) ?? [];
    const types = columns.map((column) => described.find((each) => each.column === column)?.type ?? '');
    return { name, columns, types, hasRowSecurity: described[0]?.secure === true };
  });
}

const selectColumns = `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type, c.relrowsecurity as secure
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace and c.relname <> 'schema_migration'`;

/** A table of the store with its columns, the same on both engines. */
interface StoredTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * The tables of an embedded store except the migrations table; each follows the tables that it
 * references.
 */
export function listTables(connection: SqliteConnection): readonly StoredTable[] {
  const names = connection.all(selectTables, []).map(({ name }) => String(name));
  const refersTo = new Map(
    names.map((name) => [name, connection.all('select "table" as other from pragma_foreign_key_list($1)', [name])]),
  );
  const ordered: string[] = [];
  const add = (name: string): void => {
    if (ordered.includes(name)) return;
    for (const { other } of refersTo.get(name) ?? []) if (other !== name) add(String(other));
    ordered.push(name);
  };
  for (const name of names) add(name);
  return ordered.map((name) => ({ name, columns: columnsOf(connection, name) }));
}

function columnsOf(connection: SqliteConnection, table: string): string[] {
  return connection.all('select name from pragma_table_info($1) order by cid', [table]).map(({ name }) => String(name));
}

const selectTables = `select name from sqlite_master
  where type = 'table' and name not like 'sqlite_%' and name <> 'schema_migration' order by name`;
