import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { insertTenant } from '../../src/storage/tables/tenant.ts';
import { writeSource } from '../import/write-sources.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { openRaw } from './sizes.ts';

/** Bytes by table and index after a first import of one tenant into an empty store. */
export async function measureFirstImport(engine: string, records: number): Promise<ReadonlyMap<string, number>> {
  const isSqlite = engine === 'SQLite';
  const opened = isSqlite ? await openBenchSqlite() : await openBenchPostgres();
  await insertTenant(opened.store, 'bench', 1);
  if (isSqlite) await opened.store.close();
  const file = join(opened.folder, 'rows.ndjson');
  await writeSource(file, records, 'in order');
  const program = new URL('../import/run-import.ts', import.meta.url).pathname;
  execFileSync(process.execPath, [program, file, 'import'], { env: { ...process.env, ...opened.environment } });
  rmSync(file);
  const raw = await openRaw(opened);
  const sizes = await raw.readSizes();
  await raw.close();
  if (isSqlite) rmSync(opened.folder, { recursive: true });
  else await opened.close();
  return sizes;
}
