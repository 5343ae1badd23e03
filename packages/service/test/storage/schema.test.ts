import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engines, onCluster, openPostgres } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { dumpPostgres, dumpSqlite } from '../../../../tools/dump-schema.ts';

const committed = (engine: string): string => readFileSync(new URL(`schema.${engine}.sql`, import.meta.url), 'utf8');

test('the migrations of sqlite produce the committed schema (npm run schema writes it)', async () => {
  const opened = await engines[0].openTestStore();
  expect(dumpSqlite(join(opened.environment.DATA_DIR ?? '', 'subreport.db'))).toBe(committed('sqlite'));
  await opened.close();
});

test.skipIf(onCluster)(
  'the migrations of postgres produce the committed schema (npm run schema writes it)',
  async () => {
    const opened = await openPostgres(testRole);
    expect(await dumpPostgres(opened.environment.DATABASE_URL ?? '')).toBe(committed('postgres'));
    await opened.close();
  },
);
