import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageError } from '../error.ts';
import type { Store, TenantId } from '../store.ts';
import { tenantRanges } from './day-notes.ts';
import { findAnyTenant } from './tenant.ts';

/**
 * Longest that a tenant's node may take to respond, in milliseconds: of a node that hangs, each
 * tenant costs this time.
 */
const nodeMsMax = 1_000;

/** Locked tenants that an error names. */
const namedMax = 10;

interface Sweep {
  /** Sweeps all tenants; returns how many rows it removed. */
  readonly all: () => Promise<number>;
  /** Does the same for one tenant, and only asks the tenant's node of a cluster. */
  readonly one: (tenant: TenantId) => Promise<number>;
}

/**
 * Sweeps all tenants, and returns how many rows were removed. If a node of a cluster is lost,
 * sweeps the tenants one by one instead, except those that cannot be swept, and then throws the
 * error. These tenants are those with a client or an import: only the nodes together know all
 * names.
 *
 * If a tenant is locked, by a replacement for example, sweeps all one by one as well, counts only
 * these rows, and then throws `StorageError` `BUSY` with the names of those that are still locked.
 * SQLite has one lock for all tenants, so there its error is thrown at once.
 */
export async function sweepEach(store: Store, { all, one }: Sweep): Promise<number> {
  try {
    return await all();
  } catch (error) {
    if (isLocked(error) && store.engine !== 'sqlite') return sweepUnlocked(store, one);
    if (!isUnavailable(error)) throw error;
    for (const { tenant_id: name } of await store.readDirectory(selectKnown)) {
      await sweepOne(store, String(name), one);
      await nextTurn();
    }
    throw error;
  }
}

/** Sweeps each tenant that is not locked. */
async function sweepUnlocked(store: Store, one: Sweep['one']): Promise<number> {
  let removed = 0;
  const locked: string[] = [];
  for await (const { after, last } of tenantRanges(store))
    for (const { id } of await store.readDirectory(selectNamed, [after, last]))
      try {
        removed += await one(String(id) as TenantId);
      } catch (error) {
        if (!isLocked(error)) throw error;
        locked.push(String(id));
      }
  if (locked.length === 0) return removed;
  const named = locked.slice(0, namedMax).join("', '");
  throw new StorageError(
    'BUSY',
    `Cannot sweep every tenant: none must be locked by another change: ${locked.length} were, such as '${named}'`,
  );
}

async function sweepOne(store: Store, name: string, one: Sweep['one']): Promise<void> {
  try {
    const found = await findAnyTenant(store.within(performance.now() + nodeMsMax), name);
    if (found !== undefined) await one(found.tenant);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error; // the sweep reports the first error
  }
}

const isLocked = (error: unknown): boolean => error instanceof StorageError && error.code === 'BUSY';

const isUnavailable = (error: unknown): boolean => error instanceof StorageError && error.code === 'UNAVAILABLE';

const selectKnown = 'select tenant_id from client union select tenant_id from import_latest' as const;

const selectNamed = 'select id from tenant where id > $1 and id <= $2 order by id' as const;
