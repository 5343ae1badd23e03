import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { BenchStore } from '../support/bench-store.ts';

/** Runs SQL beside the store, with the rights of the owner of its tables. */
export interface RawDatabase {
  run(sql: string): Promise<void>;
  /** Bytes of the records, the counts and their indexes, by name, largest first. */
  readSizes(): Promise<ReadonlyMap<string, number>>;
  /** The statement that creates an index. */
  readDefinition(index: string): Promise<string>;
  close(): Promise<void>;
}

export async function openRaw(opened: BenchStore): Promise<RawDatabase> {
  const { DATABASE_URL: url } = opened.environment;
  return url === undefined ? openSqlite(opened.folder) : openPostgres(url);
}

async function openPostgres(url: string): Promise<RawDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    run: async (sql) => void (await client.query(sql)),
    async readSizes() {
      const { rows } = await client.query(
        `select relname as name, pg_relation_size(oid) as bytes from pg_class
        where relname like 'subscription%' and relkind in ('r', 'i') order by 2 desc`,
      );
      return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
    },
    async readDefinition(index) {
      const { rows } = await client.query('select pg_get_indexdef($1::regclass) as sql', [index]);
      return rows[0].sql;
    },
    close: () => client.end(),
  };
}

async function openSqlite(folder: string): Promise<RawDatabase> {
  const database = new DatabaseSync(join(folder, 'subreport.db'), { timeout: 60_000 });
  return {
    run: async (sql) => database.exec(sql),
    async readSizes() {
      const rows = database
        .prepare(
          `select name, sum(pgsize) as bytes from dbstat
          where name in (select name from sqlite_schema where tbl_name like 'subscription%') group by name order by 2 desc`,
        )
        .all();
      return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
    },
    async readDefinition(index) {
      const row = database.prepare('select sql from sqlite_schema where name = ?').get(index);
      return String(row?.sql);
    },
    close: async () => database.close(),
  };
}
