import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageError } from '../error.ts';
import type { Store, TenantId } from '../store.ts';
import { findAnyTenant } from './tenant.ts';

/**
 * Longest that a tenant's node may take to respond, in milliseconds: of a node that hangs, each
 * tenant costs this time.
 */
const nodeMsMax = 1_000;

interface Sweep {
  /** Sweeps all tenants; returns how many rows it removed. */
  readonly all: () => Promise<number>;
  /** Does the same for one tenant, and only asks the tenant's node of a cluster. */
  readonly one: (tenant: TenantId) => Promise<number>;
}

/**
 * Sweeps all tenants, and returns how many rows were removed. If a node of a cluster is lost,
 * sweeps the tenants one by one instead, except those that cannot be swept, and then throws the
 * error.
 *
 * These tenants are those with a client or an import: only the nodes together know all names.
 */
export async function sweepEach(store: Store, { all, one }: Sweep): Promise<number> {
  try {
    return await all();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    for (const { tenant_id: name } of await store.readDirectory(selectKnown)) {
      await sweepOne(store, String(name), one);
      await nextTurn();
    }
    throw error;
  }
}

async function sweepOne(store: Store, name: string, one: Sweep['one']): Promise<void> {
  try {
    const found = await findAnyTenant(store.within(performance.now() + nodeMsMax), name);
    if (found !== undefined) await one(found.tenant);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error; // the sweep reports the first error
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof StorageError && error.code === 'UNAVAILABLE';

const selectKnown = 'select tenant_id from client union select tenant_id from import_latest' as const;
