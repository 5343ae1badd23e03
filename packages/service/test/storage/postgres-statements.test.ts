import { expect, test } from 'vitest';
import { onCluster, openPostgres } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import type { DirectorySql, TenantId, TenantStatement } from '../../storage/store.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

// the statement that counts them would run on a worker
test.skipIf(onCluster)(
  'a connection to PostgreSQL keeps 512 statements prepared and runs others unprepared with the same rows',
  async () => {
    const { store, close } = await openPostgres(testRole);
    await insertTenant(store, 'acme', 7);
    const ask = async (n: number) => {
      const sql = `select created_at + ${n} as n from tenant where id = $1`;
      const [row] = await store.readDirectory(sql as DirectorySql<typeof sql>, ['acme']);
      return Number(row?.n);
    };
    for (let n = 0; n < 600; n += 1) expect(await ask(n)).toBe(7 + n);
    const batch = [1, 2, 3].map((n) => {
      const sql = `select ${n} + cast($2 as bigint) as n, id from (select id, id as tenant_id from tenant) t where tenant_id = $1`;
      return { sql, values: [n] } as unknown as TenantStatement;
    });
    for (let round = 0; round < 2; round += 1)
      for (const [index, statement] of batch.entries()) {
        const [row] = await store.readTenantOnce('acme' as TenantId, statement);
        expect([Number(row?.n), row?.id]).toEqual([2 * (index + 1), 'acme']);
      }
    const sql =
      'select count(*) as n from pg_prepared_statements where not exists (select 1 from tenant where id = $1)';
    const [prepared] = await store.readDirectory(sql as DirectorySql<typeof sql>, ['nobody']);
    expect(Number(prepared?.n)).toBeGreaterThan(400);
    expect(Number(prepared?.n)).toBeLessThanOrEqual(512);
    await close();
  },
);
