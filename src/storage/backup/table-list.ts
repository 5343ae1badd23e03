import type { SqliteConnection } from '../sqlite/connection.ts';

/** A table of the store with its columns, the same on both engines. */
export interface StoredTable {
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
