import { expect, test } from 'vitest';
import type { Store, TenantId, TenantReader } from '../../storage/store.ts';

// The type check (`tsc`) proves this: each line below a @ts-expect-error must not compile, or the
// check fails.

function statements(
  store: Store,
  reader: TenantReader,
  tenant: TenantId,
  name: string,
  sql: string,
): readonly unknown[] {
  return [
    // A plain name is not a tenant.
    // @ts-expect-error
    () => store.readTenant(name, async () => 1),
    // @ts-expect-error
    () => store.loadSubscriptions(name, []),
    // A statement about subscriptions without the tenant.
    // @ts-expect-error
    () => reader.all('select count(*) from subscription'),
    // @ts-expect-error
    () => reader.all('select record from subscription where id = $2', ['x']),
    // A string that is built where the compiler cannot see it.
    // @ts-expect-error
    () => reader.all(sql),
    // Subscriptions through the function for tenants, clients and keys.
    // @ts-expect-error
    () => store.readDirectory('select record from subscription where tenant_id = $1', [name]),
    // @ts-expect-error
    () => store.readDirectory(sql),
    // These compile.
    () => reader.all('select count(*) from subscription where tenant_id = $1'),
    () => store.readTenant(tenant, async () => 1),
    () => store.readDirectory('select id from tenant'),
  ];
}

test('a statement without a tenant does not compile (see the comments above)', () => {
  expect(statements).toBeTypeOf('function');
});
