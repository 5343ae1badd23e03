import {
  type DirectoryStatement,
  directoryStatement,
  type Row,
  type Store,
  type TenantId,
  type TenantStatement,
} from '../store.ts';
import { writeOne } from './write-one.ts';

/** How an import ended; `interrupted` if its process was killed. */
type ImportResult = 'running' | 'ok' | 'failed' | 'interrupted';

export interface ImportCounts {
  readonly read: number;
  readonly rejected: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** An import as stored. Times are UTC epoch seconds. */
export interface ImportRow {
  /** Begins with the time of the start: ids are in the order of the starts. */
  readonly id: string;
  readonly tenant: string;
  readonly startedAt: number;
  /** `null` while it is running, and if it was interrupted. */
  readonly endedAt: number | null;
  /** Who started it: `actorId` is a user, a client id or the id of an operator token. */
  readonly actorKind: string;
  readonly actorId: string;
  readonly actorName: string | null;
  /** Network address of the client, if it came over HTTP. */
  readonly address: string | null;
  readonly via: string;
  readonly format: string;
  readonly options: readonly string[];
  /** Which columns of CSV were which fields, as JSON. */
  readonly columns: string | null;
  readonly result: ImportResult;
  /** Why it failed. */
  readonly error: string | null;
  readonly counts: ImportCounts | null;
  /** The revision of the tenant afterwards. */
  readonly revision: number | null;
}

const columns =
  'id, tenant_id, started_at, ended_at, actor_kind, actor_id, actor_name, address, via, format, options, import_columns, result, error, rows_read, rejected, inserted, updated, unchanged, removed, revision';

/**
 * Most imports of a tenant in the history, one every 13 minutes for 90 days: some 400 bytes each,
 * and up to 2 kB for a mapping of columns.
 */
const importsMax = 10_000;

/**
 * Stores the import, or replaces what is stored of it, and notes it as the tenant's newest. Once it
 * has ended, removes the tenant's oldest imports.
 */
export async function putImport(store: Store, row: ImportRow): Promise<void> {
  const isDryRun = row.options.includes('dry-run');
  const isGood = !isDryRun && row.result === 'ok' && row.counts?.rejected === 0;
  await store.writeDirectory([
    directoryStatement(upsertImport, valuesOf(row)),
    ...(isDryRun ? [] : [directoryStatement(upsertLatest, [row.tenant, row.id, isGood ? row.endedAt : null])]),
    ...(row.endedAt === null ? [] : [directoryStatement(removeOldest, [row.tenant, importsMax])]),
  ]);
}

const upsertImport = `insert into import_history (${columns})
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
  on conflict (id) do update set ended_at = excluded.ended_at, result = excluded.result, error = excluded.error,
    rows_read = excluded.rows_read, rejected = excluded.rejected, inserted = excluded.inserted, updated = excluded.updated,
    unchanged = excluded.unchanged, removed = excluded.removed, revision = excluded.revision` as const;

const removeOldest = `delete from import_history where tenant_id = $1
  and id <= (select id from import_history where tenant_id = $1 order by id desc limit 1 offset $2)` as const;

const upsertLatest = `insert into import_latest as l (tenant_id, import_id, good_at) values ($1, $2, cast($3 as bigint))
  on conflict (tenant_id) do update set good_at = coalesce(excluded.good_at, l.good_at),
    import_id = case when l.import_id < excluded.import_id then excluded.import_id else l.import_id end`;

/**
 * Marks imports of a tenant as interrupted that are stored as running. The caller holds the
 * tenant's import lock, so none of them is.
 */
export async function interruptImports(store: Store, tenant: string): Promise<void> {
  const interrupt = "update import_history set result = 'interrupted' where tenant_id = $1 and result = 'running'";
  await writeOne(store, interrupt, [tenant]);
}

export interface ImportFilter {
  readonly tenant?: string | undefined;
  readonly result?: ImportResult | undefined;
  /** Only imports whose id is less than this one. */
  readonly before?: string | undefined;
}

/** Up to `limit` imports, the newest first. */
export async function listImportRows(store: Store, filter: ImportFilter, limit: number): Promise<readonly ImportRow[]> {
  const { tenant, result, before = afterAllIds } = filter;
  const values = [before, limit, ...[tenant, result].filter((value) => value !== undefined)];
  const rows =
    tenant === undefined
      ? await store.readDirectory(result === undefined ? selectAll : selectByResult, values)
      : await store.readDirectory(result === undefined ? selectByTenant : selectByBoth, values);
  return rows.map(toImport);
}

/** Greater than every id: ids are hexadecimal. */
export const afterAllIds = '~';

// a statement for each filter, so that each uses its index
const selectAll = `select ${columns} from import_history where id < $1 order by id desc limit $2` as const;
const selectByResult =
  `select ${columns} from import_history where id < $1 and result = $3 order by id desc limit $2` as const;
const selectByTenant =
  `select ${columns} from import_history where id < $1 and tenant_id = $3 order by id desc limit $2` as const;
const selectByBoth =
  `select ${columns} from import_history where id < $1 and tenant_id = $3 and result = $4 order by id desc limit $2` as const;

/** The import with this id, or `undefined`. */
export async function findImportRow(store: Store, id: string): Promise<ImportRow | undefined> {
  const [row] = await store.readDirectory(`select ${columns} from import_history where id = $1` as const, [id]);
  return row === undefined ? undefined : toImport(row);
}

/** An import in short. */
export type LastImportRow = Pick<ImportRow, 'id' | 'startedAt' | 'endedAt' | 'result'> & {
  readonly read: number | null;
  readonly rejected: number | null;
};

/** A tenant's newest import, not counting dry runs. */
export interface LatestImport {
  readonly tenant: string;
  /** `null` if it is no longer in the history. */
  readonly last: LastImportRow | null;
  /** When an import last ended without a rejected row, in UTC epoch seconds; `null` if none has. */
  readonly goodAt: number | null;
}

/** The newest imports of the tenants whose names are from `first` to `last`, by name. */
export async function listLatestImports(store: Store, first: string, last: string): Promise<readonly LatestImport[]> {
  const rows = await store.readDirectory(
    `select l.tenant_id, l.good_at, h.id, h.started_at, h.ended_at, h.result, h.rows_read, h.rejected from import_latest as l left join import_history as h on h.id = l.import_id
     where l.tenant_id >= $1 and l.tenant_id <= $2 order by l.tenant_id`,
    [first, last],
  );
  return rows.map((row) => ({
    tenant: String(row.tenant_id),
    last: row.id === null ? null : toLastImport(row),
    goodAt: numberOf(row.good_at),
  }));
}

/** Up to `limit` imports whose ids are between two others, the oldest first. */
export async function listOldImports(
  store: Store,
  after: string,
  before: string,
  limit: number,
): Promise<readonly Pick<ImportRow, 'id' | 'tenant'>[]> {
  const rows = await store.readDirectory(
    'select id, tenant_id from import_history where id > $1 and id < $2 order by id limit $3',
    [after, before, limit],
  );
  return rows.map((row) => ({ id: String(row.id), tenant: String(row.tenant_id) }));
}

/** Removes up to `limit` imports of a tenant whose ids are less than `before`; returns how many. */
export async function removeImports(store: Store, tenant: string, before: string, limit: number): Promise<number> {
  const removed = await writeOne(
    store,
    `delete from import_history where tenant_id = $1 and id in (
       select id from import_history where tenant_id = $1 and id < $2 order by id limit $3
     ) returning id`,
    [tenant, before, limit],
  );
  return removed.length;
}

export const deleteImportsOf = (tenant: string): readonly DirectoryStatement[] => [
  directoryStatement('delete from import_history where tenant_id = $1', [tenant]),
  directoryStatement('delete from import_latest where tenant_id = $1', [tenant]),
];

const valuesOf = (row: ImportRow): (string | number | null)[] => [
  ...[row.id, row.tenant, row.startedAt, row.endedAt, row.actorKind, row.actorId, row.actorName, row.address, row.via],
  ...[row.format, row.options.join(' '), row.columns, row.result, row.error],
  ...[row.counts?.read ?? null, row.counts?.rejected ?? null],
  ...[row.counts?.inserted ?? null, row.counts?.updated ?? null, row.counts?.unchanged ?? null],
  ...[row.counts?.removed ?? null, row.revision],
];

const toLastImport = (row: Row): LastImportRow => ({
  id: String(row.id),
  startedAt: Number(row.started_at),
  endedAt: numberOf(row.ended_at),
  result: row.result as ImportResult,
  read: numberOf(row.rows_read),
  rejected: numberOf(row.rejected),
});

function toImport(row: Row): ImportRow {
  return {
    id: String(row.id),
    tenant: String(row.tenant_id),
    startedAt: Number(row.started_at),
    endedAt: numberOf(row.ended_at),
    actorKind: String(row.actor_kind),
    actorId: String(row.actor_id),
    actorName: textOf(row.actor_name),
    address: textOf(row.address),
    via: String(row.via),
    format: String(row.format),
    options: row.options === '' ? [] : String(row.options).split(' '),
    columns: textOf(row.import_columns),
    result: row.result as ImportResult,
    error: textOf(row.error),
    counts: row.rows_read === null ? null : countsOf(row),
    revision: numberOf(row.revision),
  };
}

const countsOf = (row: Row): ImportCounts => ({
  read: Number(row.rows_read),
  rejected: Number(row.rejected),
  inserted: Number(row.inserted),
  updated: Number(row.updated),
  unchanged: Number(row.unchanged),
  removed: Number(row.removed),
});

const numberOf = (value: Row[string] | undefined): number | null => (value == null ? null : Number(value));
const textOf = (value: Row[string] | undefined): string | null => (value == null ? null : String(value));

/** Maximum bytes of a tenant's rejected rows: 64 imports with as many as an import may have. */
const rejectionsKept = { imports: 1_000, bytes: 8 * 2 ** 20 };

/**
 * Stores the first rejected rows of an import, as NDJSON, and removes those of the tenant's oldest
 * imports: a client that loads invalid rows over and over must not fill the disk.
 */
export async function putRejections(store: Store, tenant: TenantId, importId: string, lines: string): Promise<void> {
  await store.writeTenant(tenant, [
    { sql: upsertRejections, values: [importId, lines] },
    { sql: removeOldestRejections, values: [rejectionsKept.imports, rejectionsKept.bytes] },
  ]);
}

// the condition only satisfies the type: a tenant writes its own rows
const upsertRejections: TenantStatement['sql'] = `insert into import_rejection (tenant_id, import_id, row_lines) values ($1, $2, $3)
  on conflict (tenant_id, import_id) do update set row_lines = excluded.row_lines where import_rejection.tenant_id = $1`;

// both engines know the length of a text without reading it
const removeOldestRejections: TenantStatement['sql'] = `delete from import_rejection where tenant_id = $1 and import_id in (
    select import_id from (
      select import_id, row_number() over newest as imports, sum(octet_length(row_lines)) over newest as bytes
      from import_rejection where tenant_id = $1 window newest as (order by import_id desc)
    ) as newer where imports > $2 or bytes > $3
  )`;

/** The first rejected rows of an import, as NDJSON; empty if none was rejected. */
export async function readRejections(store: Store, tenant: TenantId, importId: string): Promise<string> {
  const sql = 'select row_lines from import_rejection where tenant_id = $1 and import_id = $2';
  const [row] = await store.readTenant(tenant, (reader) => reader.all(sql, [importId]), { isBounded: true });
  return row === undefined ? '' : String(row.row_lines);
}

/** Removes the rejected rows of up to `limit` imports whose ids are less than `before`. */
export async function removeRejections(store: Store, tenant: TenantId, before: string, limit: number): Promise<number> {
  const [removed] = await store.writeTenant(tenant, [{ sql: removeRejectionsBefore, values: [before, limit] }]);
  return removed?.length ?? 0;
}

const removeRejectionsBefore: TenantStatement['sql'] = `delete from import_rejection where tenant_id = $1 and import_id in (
    select import_id from import_rejection where tenant_id = $1 and import_id < $2 order by import_id limit $3
  ) returning import_id`;
