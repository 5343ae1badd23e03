import pg from 'pg';
import postgres from 'postgres';
import { plannerOptions, sessionOptions } from '../../src/storage/postgres/session.ts';
import { parserOf, runBatch } from '../../src/storage/postgres/wire/batch.ts';
import { createReusingSocket, readMessages } from '../../src/storage/postgres/wire/driver.ts';
import { LineQuery } from '../../src/storage/postgres/wire/line-query.ts';
import type { Row, SqlValue, Store, TenantId } from '../../src/storage/store.ts';
import { utf8Column } from '../../src/storage/utf8-column.ts';

/** One way to send the statements of the store. */
export interface Driver {
  readonly name: string;
  /** The parts of the store that the work uses. */
  readonly store: Store;
  /** Reads the rows of a statement as lines, in batches of a cursor; returns their number. */
  readLines(sql: string, tenant: TenantId): Promise<number>;
  close(): Promise<void>;
}

const batchRows = 1_000;
const poolSize = 10;
const setTenant = "set_config('app.tenant', $1, true)";
const settings = `select ${setTenant}, set_config('transaction_read_only', 'on', true), set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** A statement that sets the tenant and then reads: the read needs the row of the setting. */
const settingAndReading = (sql: string): string =>
  `select page.* from (select ${setTenant} as tenant offset 0) as setting
   cross join lateral (select * from (${sql}) as read where setting.tenant is not null offset 0) as page`;

export const openDrivers = (url: string): readonly Driver[] => [
  ownMessages(url),
  driverAlone(url),
  postgresPackage(url, { max: 3 }),
  postgresPackage(url, { max: poolSize, max_pipeline: 0 }),
];

type Statements = readonly { readonly sql: string; readonly values: readonly SqlValue[] }[];

const first = ([statement]: Statements): readonly [string, readonly SqlValue[]] => [
  statement?.sql ?? '',
  statement?.values ?? [],
];

type Run = (text: string, values?: readonly SqlValue[]) => Promise<readonly Row[]>;

/** The store whose reads of a tenant are `read`, and whose other statements are `run`. */
const storeOf = (
  read: (tenant: TenantId, sql: string, values: readonly SqlValue[]) => Promise<readonly Row[]>,
  run: Run,
) =>
  ({
    engine: 'postgres',
    readTenantOnce: async (tenant: TenantId, statements: Statements) => [await read(tenant, ...first(statements))],
    readDirectory: run,
    writeDirectory: async (statements: Statements) => [await run(...first(statements))],
  }) as unknown as Store;

const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `s${names.size}`;
  names.set(text, name);
  return name;
}

function openPool(url: string, onConnect: (client: pg.PoolClient) => void) {
  const options = {
    connectionString: url,
    max: poolSize,
    pipeline: true,
    options: sessionOptions,
    types: { getTypeParser: parserOf },
  };
  const pool = new pg.Pool(options);
  pool.on('connect', onConnect);
  const use = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  };
  return { use, close: () => pool.end() };
}

/** The store's way: the settings and the statement are one message with one Sync. */
function ownMessages(url: string): Driver {
  const { use, close } = openPool(url, readMessages);
  const prepare = (text: string, values: readonly SqlValue[] = []) => ({ name: nameOf(text), text, values });
  const run: Run = async (text, values) => (await use((client) => runBatch(client, [prepare(text, values)])))[0] ?? [];
  const read: Parameters<typeof storeOf>[0] = async (tenant, sql, values) => {
    const batch = [{ ...prepare(settings, [tenant]), ignoresRows: true }, prepare(sql, [tenant, ...values])];
    return (await use((client) => runBatch(client, batch)))[1] ?? [];
  };
  return {
    name: 'own messages',
    store: storeOf(read, run),
    async readLines(sql, tenant) {
      const client = await openCursor(url, sql, tenant, createReusingSocket);
      readMessages(client);
      const fetch = (memory: Buffer) => new LineQuery(`fetch forward ${batchRows} from batches`, memory).run(client);
      let rows = 0;
      let free: Buffer = Buffer.allocUnsafeSlow(1_048_576);
      let next = fetch(Buffer.allocUnsafeSlow(1_048_576));
      for (let batch = await next; batch.rows > 0; batch = await next) {
        next = fetch(free);
        rows += batch.rows;
        free = Buffer.from(batch.lines.buffer);
      }
      await client.end();
      return rows;
    },
    close,
  };
}

async function openCursor(
  url: string,
  sql: string,
  tenant: TenantId,
  stream?: pg.ClientConfig['stream'],
): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: sessionOptions, ...(stream && { stream }) });
  await client.connect();
  await client.query('begin');
  await client.query(`select ${setTenant}`, [tenant]);
  await client.query(`declare batches no scroll cursor for ${sql}`, [tenant]);
  return client;
}

/** `pg` with its pipelining, and one statement that sets and reads. */
function driverAlone(url: string): Driver {
  const { use, close } = openPool(url, (client) => void client.query('set plan_cache_mode = force_generic_plan'));
  const run: Run = async (text, values = []) =>
    (await use((client) => client.query({ name: nameOf(text), text, values: [...values] }))).rows.map(withBytes);
  return {
    name: '`pg`',
    store: storeOf((tenant, sql, values) => run(settingAndReading(sql), [tenant, ...values]), run),
    async readLines(sql, tenant) {
      const client = await openCursor(url, sql, tenant);
      const fetch = () => client.query({ text: `fetch forward ${batchRows} from batches`, rowMode: 'array' });
      let rows = 0;
      let next = fetch();
      for (let batch = await next; batch.rows.length > 0; batch = await next) {
        next = fetch();
        rows += batch.rows.length;
        Buffer.from(batch.rows.join('\n'));
      }
      await client.end();
      return rows;
    },
    close,
  };
}

function withBytes(row: Record<string, unknown>): Row {
  const text = row[utf8Column];
  if (typeof text === 'string') row[utf8Column] = Buffer.from(text);
  return row as Row;
}

/** `postgres` with rows as bytes, and one statement that sets and reads. */
function postgresPackage(url: string, pool: { readonly max: number; readonly max_pipeline?: number }): Driver {
  const planner = Object.fromEntries(plannerOptions.map((option) => option.split('=')));
  const options = { fetch_types: false, connection: { ...planner, plan_cache_mode: 'force_generic_plan' } };
  const sql = postgres(url, { ...options, ...pool });
  const run: Run = async (text, values = []) => {
    const rows = await sql.unsafe(text, [...values], { prepare: true }).raw();
    return rows.map((row) => named(row, rows.columns));
  };
  return {
    name: pool.max_pipeline === 0 ? '`postgres` without pipelining' : `\`postgres\`, ${pool.max} connections`,
    store: storeOf((tenant, text, values) => run(settingAndReading(text), [tenant, ...values]), run),
    async readLines(text, tenant) {
      const single = postgres(url, { ...options, max: 1 });
      const rows = await single.begin(async (client) => {
        let count = 0;
        await client.unsafe(`select ${setTenant}`, [tenant]);
        for await (const batch of client.unsafe(text, [tenant]).raw().cursor(batchRows)) {
          count += batch.length;
          Buffer.concat(batch.flatMap(([value]) => [value ?? lineFeed, lineFeed]));
        }
        return count;
      });
      await single.end();
      return rows;
    },
    close: () => sql.end(),
  };
}

const lineFeed = Buffer.from('\n');

function named(values: readonly (Buffer | null)[], columns: readonly { name: string; type: number }[]): Row {
  const row: Record<string, unknown> = {};
  for (const [index, { name, type }] of columns.entries()) {
    const value = values[index] ?? null;
    row[name] = value === null || name === utf8Column ? value : parserOf(type)(value.toString());
  }
  return row as Row;
}
