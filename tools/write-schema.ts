import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../packages/service/storage/open-store.ts';
import { dumpPostgres, dumpSqlite } from './dump-schema.ts';
import { startPostgres } from './postgres-server.ts';

// Writes the schemas that the migrations lead to: schema.sqlite.sql and schema.postgres.sql in
// packages/service/test/storage/.
const folder = mkdtempSync(join(tmpdir(), 'subreport-schema-'));
const server = await startPostgres();
try {
  for (const databaseUrl of [undefined, server.url]) {
    const store = openStore({ databaseUrl, dataDir: folder, poolSize: 1, onConnectionError: () => undefined });
    await store.migrate();
    await store.close();
  }
  const target = (engine: string) => new URL(`../packages/service/test/storage/schema.${engine}.sql`, import.meta.url);
  writeFileSync(target('sqlite'), dumpSqlite(join(folder, 'subreport.db')));
  writeFileSync(target('postgres'), await dumpPostgres(server.url));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
