import { BoundedMap } from '../storage/bounded-map.ts';
import type { Directory, Store, TenantId } from '../storage/store.ts';
import { findRevision } from '../storage/tables/tenant-revision.ts';

/** A revision that is read, or was, at a change mark of the store. */
interface KnownRevision {
  readonly revision: Promise<number>;
  readonly changeMark: number | undefined;
}

/** Bytes of such an entry in memory. */
const revisionBytes = 200;

/**
 * Creates a function that returns a tenant's revision. It is cached until the store may have
 * changed, so a change made by any process is visible as soon as this one is notified. Concurrent
 * callers share a query.
 */
export function createRevisionLookup(store: Pick<Store, 'changeMark'> & Directory) {
  const revisions = new BoundedMap<KnownRevision>({
    name: 'revisions',
    entriesMax: 10_000,
    bytesMax: 8_388_608,
    bytesOf: () => revisionBytes,
  });
  return (tenant: TenantId): Promise<number> => {
    const changeMark = store.changeMark();
    const known = revisions.get(tenant);
    if (known !== undefined && changeMark !== undefined && known.changeMark === changeMark) return known.revision;
    const revision = findRevision(store, tenant).then((found) => found ?? 0);
    const entry = { revision, changeMark };
    revisions.set(tenant, entry);
    // a failed read must not be repeated from the cache
    revision.catch(() => {
      if (revisions.get(tenant) === entry) revisions.delete(tenant);
    });
    return revision;
  };
}
