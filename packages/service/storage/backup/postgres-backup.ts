import type pg from 'pg';
import type { StoreOptions } from '../open-store.ts';
import { useUnbounded } from '../postgres/connect.ts';
import { beginReading, noTimeLimit } from '../postgres/session.ts';
import { SqliteConnection } from '../sqlite/connection.ts';
import { prepareFolder } from '../sqlite/folder.ts';
import { openSqliteStore } from '../sqlite/store.ts';
import { describeTables, listTables, type PostgresTable } from './postgres-table.ts';
import { copySqliteStore, type OnCopied } from './sqlite-backup.ts';

/** Rows per fetch and per insert. */
const batchRows = 1_000;

/**
 * Copies one snapshot of a PostgreSQL store into an embedded store in an empty folder. Runs as the
 * role that owns the tables. It reads tables of subscriptions tenant by tenant, because row-level
 * security applies to the owner too.
 */
async function copyPostgresStore(url: string, target: string, onCopied: OnCopied): Promise<void> {
  const empty = openSqliteStore(target);
  await empty.migrate();
  await empty.close();
  const copy = new SqliteConnection(prepareFolder(target), 0);
  try {
    // foreign keys are checked and the file is made durable once the copy is complete
    copy.run('pragma foreign_keys = off; pragma synchronous = off; begin');
    const indexes = dropIndexes(copy);
    await transfer(url, { name: 'subreport-backup', begin: beginReading }, async (client) => {
      let bytes = 0;
      for (const table of await describeTables(client, listTables(copy)))
        for await (const rows of readTable(client, table)) {
          for (const row of rows) copy.change(insertInto(table), row);
          bytes += JSON.stringify(rows).length;
          onCopied({ bytes });
        }
    });
    // sorting is half the work of inserting; the folder has room for it, which /tmp may not have
    // biome-ignore lint/style/noProcessEnv: SQLite reads the folder of its temporary files there
    process.env.SQLITE_TMPDIR ??= target;
    for (const sql of indexes) copy.run(sql);
    copy.run('commit; pragma synchronous = full');
  } finally {
    copy.close();
  }
}

/** Drops the indexes that have a statement, and returns these. */
function dropIndexes(connection: SqliteConnection): readonly string[] {
  const indexes = connection.all(
    "select name, sql from sqlite_schema where type = 'index' and sql is not null order by name",
    [],
  );
  for (const { name } of indexes) connection.run(`drop index ${name}`);
  return indexes.map(({ sql }) => String(sql));
}

/** Runs work that reads or writes a whole store in one transaction without a time limit. */
export async function transfer(
  url: string,
  { name, begin }: { readonly name: `subreport-${string}`; readonly begin: string },
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const run = async (client: pg.Client): Promise<void> => {
    await client.query(begin);
    await client.query(noTimeLimit);
    await work(client);
  };
  await useUnbounded(url, run, { name, keepAlive: true }); // uncommitted work is rolled back
}

type Values = (string | number | null)[];

async function* readTable(client: pg.Client, table: PostgresTable): AsyncGenerator<Values[]> {
  if (!table.hasRowSecurity) return yield* readRows(client, table);
  const { rows } = await client.query<{ id: string }>('select id from tenant order by id');
  for (const { id } of rows) {
    await client.query('select set_tenant($1)', [id]);
    yield* readRows(client, table, id);
  }
}

async function* readRows(client: pg.Client, table: PostgresTable, tenant?: string): AsyncGenerator<Values[]> {
  const columns = table.columns.map((name, index) => `${name}${castFrom[table.types[index] ?? ''] ?? ''}`);
  const where = tenant === undefined ? '' : ' where tenant_id = $1';
  const values = tenant === undefined ? [] : [tenant];
  await client.query(
    `declare copied no scroll cursor for select ${columns.join(', ')} from ${table.name}${where}`,
    values,
  );
  for (;;) {
    const { rows } = await client.query<Values>({ text: `fetch forward ${batchRows} from copied`, rowMode: 'array' });
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await client.query('close copied');
}

/** The cast that makes a PostgreSQL type readable as a value of SQLite. */
const castFrom: Readonly<Record<string, string>> = { jsonb: '::text', boolean: '::integer' };

const insertInto = ({ name, columns }: PostgresTable): string =>
  `insert into ${name} (${columns.join(', ')}) values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`;

/** Copies one snapshot of the configured store into an embedded store in an empty folder. */
export function copyStore(
  { databaseUrl, dataDir }: Pick<StoreOptions, 'databaseUrl' | 'dataDir'>,
  target: string,
  onCopied: OnCopied,
): Promise<void> {
  return databaseUrl === undefined
    ? copySqliteStore(dataDir, target, onCopied)
    : copyPostgresStore(databaseUrl, target, onCopied);
}
