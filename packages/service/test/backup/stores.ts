import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgres } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { openStore } from '../../storage/open-store.ts';
import type { Row, Store, TenantId } from '../../storage/store.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

/** A place for a store that no process uses at first, so that a restore into it is possible. */
export interface StorePlace {
  readonly environment: Readonly<Record<string, string>>;
  /** A folder for backups. */
  readonly folder: string;
  open(): Store;
  remove(): Promise<void>;
}

/** An empty place of each engine. */
export const places = [
  { engine: 'sqlite', makePlace: makeFolder },
  { engine: 'postgres', makePlace: makeDatabase },
] as const;

export async function makeFolder(): Promise<StorePlace> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-backup-'));
  return toPlace(folder, { DATA_DIR: join(folder, 'data') }, async () => undefined);
}

export async function makeDatabase(): Promise<StorePlace> {
  const opened = await openPostgres(testRole, true);
  const folder = mkdtempSync(join(tmpdir(), 'subreport-backup-'));
  const DATABASE_URL = opened.environment.DATABASE_URL ?? '';
  return toPlace(folder, { DATA_DIR: join(folder, 'data'), DATABASE_URL }, () => opened.close());
}

function toPlace(folder: string, environment: Record<string, string>, close: () => Promise<void>): StorePlace {
  const options = { databaseUrl: environment.DATABASE_URL, dataDir: environment.DATA_DIR ?? '', poolSize: 3 };
  return {
    environment,
    folder,
    open: () => openStore({ ...options, onConnectionError: () => undefined }),
    async remove() {
      await close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Runs work with the migrated store of a place, then closes it. */
export async function withStore<T>(place: StorePlace, work: (store: Store) => Promise<T>): Promise<T> {
  const store = place.open();
  try {
    await store.migrate();
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Creates a tenant with `count` records. */
export async function fillTenant(store: Store, name: string, count: number): Promise<TenantId> {
  await insertTenant(store, name, 1_700_000_000);
  const tenant = (await findTenant(store, name))?.tenant;
  if (tenant === undefined) throw new Error('no tenant');
  const rows = Array.from({ length: count }, (_, n) =>
    subscriptionRow({ id: `id${n}`, createdDate: n, productId: `product-${n % 3}`, email: n % 2 === 0 ? null : 'a@b' }),
  );
  await store.loadSubscriptions(tenant, rows);
  return tenant;
}

/** All data of a tenant except its revision. */
export const contentOf = (store: Store, tenant: TenantId): Promise<readonly (readonly Row[])[]> =>
  store.readTenant(tenant, (reader) =>
    Promise.all([
      reader.all('select * from subscription where tenant_id = $1 order by id'),
      reader.all('select id, revision from subscription_tombstone where tenant_id = $1 order by id'),
      reader.all(
        'select series, level, from_date, from_id, n from subscription_span where tenant_id = $1 order by series, level, from_date, from_id',
      ),
    ]),
  );
