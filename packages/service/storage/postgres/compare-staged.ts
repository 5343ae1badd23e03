import type { Joins } from '../commit/change-request.ts';
import { buryReplaced, countDifferences, keepReplaced, writeReplaced } from '../commit/statements.ts';
import { countedColumns, countedNames, countedOf, defineCounted } from '../counts/counted-row.ts';
import type { Row, TenantId } from '../store.ts';
import { columnNames, defineColumns, rowColumns } from '../subscription-row.ts';
import { dataBytes } from '../tables/storage-use.ts';
import { keepRows, upsertRows } from './change-sql.ts';
import type { RunStatement } from './statements.ts';

// The temporary tables of a staged load, which its transaction drops. Only the comparison reads the
// tenant's table, so that a distributed engine can run it.

/** Fills `changed` and, unless others stay, `removed`; returns what `countDifferences` counts. */
export async function compareStaged(
  run: RunStatement,
  tenant: TenantId,
  keepsOthers: boolean,
): Promise<readonly Row[]> {
  await run(keepsOthers ? `${keepKeys} and id = any(array(select id from staged))` : keepKeys, [tenant]);
  await run(findChanged, []);
  if (!keepsOthers) await run(findRemoved, []);
  return run(countDifferences, []);
}

/** Rows of a temporary table that are sent to a node at once. */
const sentRows = 2_000;

/**
 * Runs statements on Citus, which would send the rows of temporary tables to the node by COPY
 * (`insertRows`): they are read in parts, and sent as the rows of a load are.
 */
export const sendToNode =
  (run: RunStatement): RunStatement =>
  async (text, values) => {
    const { source, columns, sql } = sent[text] ?? {};
    if (sql === undefined) return run(text, values);
    for (let after: unknown = ''; after !== null; ) {
      const part = `select * from (${source}) as r where id > $1 order by id limit ${sentRows}`;
      const [{ last = null, ...arrays } = {}] = await run(`select max(id) as last, ${columns} from (${part}) as p`, [
        after,
      ]);
      if (last !== null) await run(sql, [...values, ...Object.values(arrays)]);
      after = last;
    }
    return [];
  };

const toArray = (name: string): string =>
  name === 'record' ? 'string_agg(record, chr(31)) as record' : `cast(array_agg(${name}) as text) as ${name}`;

const buryIds = `insert into subscription_tombstone (tenant_id, id, revision)
  select t.id, r.id, cast($2 as bigint) from tenant as t cross join unnest($3::text[]) as r (id) where t.id = $1
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

/** The rows that a statement sends, their columns as arrays, and the statement that takes those. */
const sent: Readonly<Record<string, { readonly source: string; readonly columns: string; readonly sql: string }>> = {
  [keepReplaced]: {
    source: 'select id from changed where not is_new union all select id from removed',
    columns: toArray('id'),
    sql: keepRows,
  },
  [writeReplaced]: {
    source: `select ${columnNames('t')} from changed as c cross join staged as t where t.id = c.id`,
    columns: rowColumns.map(({ name }) => toArray(name)).join(', '),
    sql: upsertRows,
  },
  [buryReplaced]: { source: 'select id from removed', columns: toArray('id'), sql: buryIds },
};

export const lookUpByKey = [
  ...['enable_nestloop = on', 'enable_hashjoin = off', 'enable_mergejoin = off'],
  ...['enable_seqscan = off', 'enable_bitmapscan = off'],
];

/**
 * The settings by which the planner joins. The temporary tables are joined completely, and it has
 * no statistics of them. Rows are looked up by key: it may take the tenant for a small one, and
 * without these settings, removing 25,000 rows took 170 s of scans instead of 1 s.
 */
export const joinSettings: Readonly<Record<Joins, readonly string[]>> = {
  'all rows': [
    ...['enable_nestloop = off', 'enable_hashjoin = on', 'enable_mergejoin = on'],
    ...['enable_seqscan = on', 'enable_bitmapscan = on'],
  ],
  'by key': lookUpByKey,
  // as where counting runs elsewhere
  counts: ['enable_hashjoin = on', 'enable_sort = off'],
};

export const createTables = [
  `create temp table staged (${defineColumns({ id: 'text collate "C" not null primary key', text: 'text', bigint: 'bigint' })}) on commit drop`,
  `create temp table kept (id text collate "C" not null, ${defineCounted('bigint')}, email text, digest bytea, bytes bigint not null) on commit drop`,
  `create temp table changed (id text collate "C" not null primary key, is_new boolean not null, bytes_before bigint, bytes_after bigint not null, ${defineCounted('bigint')}) on commit drop`,
  `create temp table removed (id text collate "C" not null primary key, bytes_before bigint not null, ${defineCounted('bigint')}) on commit drop`,
];

const keepKeys = `insert into kept (${countedColumns}, email, digest, bytes)
  select ${countedColumns}, email, sha256(convert_to(record, 'UTF8')), ${dataBytes()} from subscription where tenant_id = $1`;

const findChanged = `insert into changed (id, is_new, bytes_before, bytes_after, ${countedNames.join(', ')})
  select t.id, k.id is null, k.bytes, ${dataBytes('t')}, ${countedOf('k')} from staged as t left join kept as k on k.id = t.id
  where k.id is null or k.email is distinct from t.email or k.digest <> sha256(convert_to(t.record, 'UTF8'))`;

const findRemoved = `insert into removed (${countedColumns}, bytes_before)
  select k.id, ${countedOf('k')}, k.bytes from kept as k left join staged as t on t.id = k.id where t.id is null`;
