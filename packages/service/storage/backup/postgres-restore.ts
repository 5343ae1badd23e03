import type pg from 'pg';
import { StorageError } from '../error.ts';
import { isRolledBack } from '../postgres/error.ts';
import { commit, unknownOutcome } from '../postgres/settle-commit.ts';
import { SqliteConnection } from '../sqlite/connection.ts';
import { transfer } from './postgres-backup.ts';
import { describeTables, listTables, type PostgresTable } from './postgres-table.ts';
import type { OnCopied } from './sqlite-backup.ts';

/** Rows per insert. */
const batchRows = 1_000;

/**
 * Fills an empty, migrated PostgreSQL database from the file of an embedded store, in one
 * transaction: a crash leaves it empty. Throws `StorageError` if the database has tenants, or while
 * another subreport process is connected to it.
 */
export async function fillPostgresStore(url: string, file: string, onCopied: OnCopied): Promise<void> {
  const source = new SqliteConnection(file, 0);
  try {
    await transfer(url, { name: 'subreport-restore', begin: 'begin' }, async (client) => {
      await fill(client, source, onCopied);
      await commit(client).catch((error: unknown) =>
        Promise.reject(isRolledBack(error) ? error : unknownOutcome(error)),
      );
    });
  } finally {
    source.close();
  }
}

async function fill(client: pg.Client, source: SqliteConnection, onCopied: OnCopied): Promise<void> {
  await client.query("set local lock_timeout = '5s'");
  // a service that starts now waits until the restore has finished
  await client.query('lock table tenant in access exclusive mode');
  await requireEmpty(client);
  await requireAlone(client);
  const tables = await describeTables(client, listTables(source));
  // remove the keys that a first start of the service has created
  await client.query('alter table audit_entry disable trigger user');
  for (const { name, hasRowSecurity } of tables.toReversed())
    if (!hasRowSecurity) await client.query(`delete from ${name}`);
  await client.query('alter table audit_entry enable trigger user');
  let bytes = 0;
  for (const table of tables) {
    for (const rows of rowsOf(source, table)) {
      await writeRows(client, table, rows);
      bytes += JSON.stringify(rows).length;
      onCopied({ bytes });
    }
  }
  await client.query(continueAuditIds);
}

/** The next entry of the audit log gets the id after the restored ones. */
const continueAuditIds = `select setval(pg_get_serial_sequence('audit_entry', 'id'), coalesce(max(id), 0) + 1, false) from audit_entry`;

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query('select id from tenant limit 1');
  if (rows.length === 0) return;
  throw new StorageError(
    'UNUSABLE',
    `Cannot restore into this database: it must be empty: it contains at least the tenant '${rows[0]?.id}'; create an empty database and set DATABASE_URL to it`,
  );
}

/**
 * Throws while other subreport sessions use the database; their names are visible to every role.
 */
async function requireAlone(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name like 'subreport%' order by 1`,
  );
  if (rows.length === 0) return;
  throw new StorageError(
    'UNUSABLE',
    `Cannot restore now: no process of subreport may use the database: it has sessions '${rows.map(({ name }) => name).join("', '")}'; stop the service, imports, and poolers that keep their connections open`,
  );
}

type TableRow = Readonly<Record<string, string | number | null>>;

function* rowsOf(source: SqliteConnection, { name, columns, hasRowSecurity }: PostgresTable): Generator<TableRow[]> {
  const order = hasRowSecurity ? ' order by tenant_id' : '';
  for (const rows of source.batches(`select ${columns.join(', ')} from ${name}${order}`, [], batchRows))
    yield* hasRowSecurity ? Map.groupBy(rows, ({ tenant_id }) => tenant_id).values() : [[...rows]];
}

async function writeRows(client: pg.Client, table: PostgresTable, rows: readonly TableRow[]): Promise<void> {
  const { name, columns, types, hasRowSecurity } = table;
  if (hasRowSecurity) await client.query('select set_tenant($1)', [rows[0]?.tenant_id]);
  const arrays = types.map((type, index) => `$${index + 1}::${carrierOf[type] ?? type}[]`);
  const selected = columns.map(
    (column, index) => `${column}${carrierOf[types[index] ?? ''] === undefined ? '' : `::${types[index]}`}`,
  );
  const { rowCount } = await client.query({
    text: `insert into ${name} (${columns.join(', ')}) select ${selected.join(', ')} from unnest(${arrays.join(', ')}) as r (${columns.join(', ')}) on conflict do nothing`,
    values: columns.map((column) => rows.map((row) => row[column])),
  });
  if (rowCount === rows.length) return;
  // without 'on conflict', Citus would use COPY, which row-level security rejects
  throw new StorageError(
    'UNUSABLE',
    `Cannot restore: each key must occur once: current value is the table '${name}' with a repeated key; use another backup`,
  );
}

/** Types that are sent as another type, which the insert casts back. */
const carrierOf: Readonly<Record<string, string>> = { jsonb: 'text', boolean: 'integer' };
