import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../storage/store.ts';
import { removeImports, tenantsWithImportsBefore } from '../storage/tables/import-history.ts';
import { removeRejections } from '../storage/tables/import-rejection.ts';
import { findTenant } from '../storage/tables/tenant.ts';
import { firstImportIdAt } from './import-id.ts';

const dayMs = 86_400_000;

/** Imports removed per transaction: some milliseconds. */
const batchRows = 1_000;

/** Removes imports that started more than `days` days ago from the history; returns how many. */
export async function sweepImports(store: Store, { nowMs, days }: { nowMs: number; days: number }): Promise<number> {
  const before = firstImportIdAt(nowMs - days * dayMs);
  let removed = 0;
  for (const name of await tenantsWithImportsBefore(store, before)) {
    const tenant = (await findTenant(store, name))?.tenant;
    // the rejected rows first: what is left after a failure is removed by the next sweep
    if (tenant !== undefined) await inBatches(() => removeRejections(store, tenant, before, batchRows));
    removed += await inBatches(() => removeImports(store, name, before, batchRows));
  }
  return removed;
}

async function inBatches(removeSome: () => Promise<number>): Promise<number> {
  for (let removed = 0; ; ) {
    const batch = await removeSome();
    removed += batch;
    if (batch < batchRows) return removed;
    await nextTurn(); // let pending requests run first
  }
}
