import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../storage/store.ts';
import { listOldImports, removeImports, removeRejections } from '../storage/tables/import-history.ts';
import { inBatches } from '../storage/tables/in-batches.ts';
import { findTenant } from '../storage/tables/tenant.ts';
import { firstImportIdAt } from './with-history.ts';

const dayMs = 86_400_000;

/** Imports removed per transaction, and read at once: some milliseconds. */
const batchRows = 1_000;

/**
 * Removes imports that started more than `days` days ago from the history; returns how many. If the
 * imports of a tenant cannot be removed, as its node of a cluster is lost, those of the others are,
 * and the first error is thrown.
 */
export async function sweepImports(store: Store, { nowMs, days }: { nowMs: number; days: number }): Promise<number> {
  const before = firstImportIdAt(nowMs - days * dayMs);
  const swept = new Set<string>();
  const failures: unknown[] = [];
  let removed = 0;
  for (let after = ''; ; ) {
    const old = await listOldImports(store, after, before, batchRows);
    for (const { tenant: name } of old) {
      if (swept.has(name)) continue;
      removed += await sweepTenant(store, name, before).catch((error: unknown) => {
        failures.push(error);
        return 0;
      });
      swept.add(name);
      await nextTurn(); // let pending requests run first
    }
    if (old.length < batchRows) break;
    after = old.at(-1)?.id ?? before;
  }
  if (failures.length > 0) throw failures[0];
  return removed;
}

async function sweepTenant(store: Store, name: string, before: string): Promise<number> {
  const tenant = (await findTenant(store, name))?.tenant;
  // the rejected rows first: what is left after a failure is removed by the next sweep
  if (tenant !== undefined) await inBatches(batchRows, () => removeRejections(store, tenant, before, batchRows));
  return inBatches(batchRows, () => removeImports(store, name, before, batchRows));
}
