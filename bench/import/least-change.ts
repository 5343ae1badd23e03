import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { SourceRow } from '../../packages/service/import/check-row.ts';
import { checkRow } from '../../packages/service/import/check-row.ts';
import { readNdjson } from '../../packages/service/import/read-ndjson.ts';
import { columnArrays, upsertRows } from '../../packages/service/storage/postgres/change-sql.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';

/** What is compared with a row. */
interface StoredRecord {
  readonly record: string;
  readonly email: string | null;
}

/** The statements that an import of known records cannot do without. */
interface Statements {
  /** The stored records of some ids, which are separated by commas. */
  readStored(ids: string): Promise<readonly (StoredRecord & { readonly id: string })[]>;
  /** Stores rows with known ids in one transaction. */
  update(rows: readonly SubscriptionRow[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Rows of a transaction of an import. */
const batchRows = 3_000;

/**
 * Loads a file whose ids are all stored: reads its lines, compares them with the stored records in
 * batches, checks those that differ, and writes them. No counts or revision.
 */
export async function changeLeast(file: string, { DATABASE_URL, DATA_DIR = '' }: NodeJS.ProcessEnv): Promise<void> {
  const statements = DATABASE_URL === undefined ? openSqlite(DATA_DIR) : await openPostgres(DATABASE_URL);
  let rows: SourceRow[] = [];
  for await (const row of readNdjson(createReadStream(file))) {
    rows.push(row);
    if (rows.length < batchRows) continue;
    await changeBatch(rows, statements);
    rows = [];
  }
  await changeBatch(rows, statements);
  await statements.close();
}

async function changeBatch(rows: readonly SourceRow[], { readStored, update }: Statements): Promise<void> {
  const ids = rows.map((row) => idOf(row)).sort();
  const stored = new Map((await readStored(ids.join(','))).map((record) => [record.id, record]));
  const changed = rows.flatMap((row) => {
    const known = stored.get(idOf(row));
    if (known !== undefined && isStoredText(row.raw, known)) return [];
    const checked = 'value' in row.content ? checkRow(row.content.value) : row.content;
    if (!('row' in checked)) throw new Error('Cannot measure: every record must be right');
    return [checked.row];
  });
  if (changed.length > 0) await update(changed);
}

async function openPostgres(url: string): Promise<Statements> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select set_config('app.tenant', 'bench', false)");
  const read = 'select id, record, email from subscription where tenant_id = $1 and id = any(string_to_array($2, $3))';
  return {
    readStored: async (ids) => (await client.query({ name: 'read', text: read, values: ['bench', ids, ','] })).rows,
    update: (rows) => client.query({ name: 'update', text: upsertRows, values: ['bench', 2, ...columnArrays(rows)] }),
    close: () => client.end(),
  };
}

/** The id of a line as our exports write it, where it comes first. */
const idOf = ({ raw }: SourceRow): string => /^\{"id":"([A-Za-z0-9_=-]{1,257})"/.exec(raw)?.[1] ?? '';

/** Whether a line is exactly a stored record, with its email address at the end if it has one. */
const isStoredText = (raw: string, { record, email }: StoredRecord): boolean =>
  raw === (email === null ? record : `${record.slice(0, -1)},"email":${JSON.stringify(email)}}`);

function openSqlite(folder: string): Statements {
  const database = new DatabaseSync(join(folder, 'subreport.db'));
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const read =
    database.prepare(`select s.id, s.record, s.email from json_each('["' || replace(?, ',', '","') || '"]') as k
    cross join subscription as s on s.tenant_id = 'bench' and s.id = k.value`);
  const update = database.prepare(`update subscription set revision = 2, status = ?, expiration_date = ?, record = ?
    where tenant_id = 'bench' and id = ?`);
  return {
    readStored: async (ids) => read.all(ids) as never,
    async update(rows) {
      database.exec('begin immediate');
      for (const { status, expirationDate, record, id } of rows) update.run(status, expirationDate, record, id);
      database.exec('commit');
    },
    close: async () => database.close(),
  };
}
