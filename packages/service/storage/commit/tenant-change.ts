import { ask } from '../counts/count-work.ts';
import { repairSubscriptions } from '../maintenance/repair.ts';
import { sweepHistory } from '../maintenance/sweep-history.ts';
import type { HistorySweep, RecordOwner, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { eraseStatements } from '../tables/delete-tenant.ts';
import { rowBytes } from '../tables/storage-use.ts';
import type { ChangeWork } from './change-request.ts';
import { type Changed, type ChangeOptions, commitChange, type RowChanges } from './commit-change.ts';
import { eraseRecords } from './erase-records.ts';
import { loadRows } from './load-rows.ts';
import { removeOldTombstones, setSweptRevision } from './statements.ts';

/** A change of one tenant's subscriptions, in one transaction (`TenantWrites`). */
export type TenantChange = { readonly tenant: TenantId } & (
  | {
      readonly kind: 'load';
      readonly rows: readonly SubscriptionRow[];
      readonly expectsNew: boolean;
      readonly importId: string | undefined;
    }
  | { readonly kind: 'erase records'; readonly ids: readonly string[]; readonly owner: RecordOwner | undefined }
  | { readonly kind: 'delete tenant'; readonly limit: number }
  | { readonly kind: 'sweep'; readonly revision: number; readonly limit: number }
  | { readonly kind: 'sweep history'; readonly sweep: HistorySweep; readonly limit: number }
  | { readonly kind: 'repair'; readonly nowSeconds: number }
);

/** The steps of a change; its engine runs them in a transaction. */
export function changeTenant(change: TenantChange, options: ChangeOptions): ChangeWork<unknown> {
  switch (change.kind) {
    case 'load':
      return commitChange(loadRows(change, options), { ...options, importId: change.importId });
    case 'erase records':
      return commitChange(eraseRecords(change, options), options);
    case 'delete tenant':
      return deleteSomeRows(change.limit);
    case 'sweep':
      return commitChange(sweepTombstones(change.revision, change.limit), options);
    case 'sweep history':
      return sweepLocked(change.sweep, change.limit);
    case 'repair':
      return commitChange(repairRows(change.nowSeconds), options);
  }
}

function* deleteSomeRows(limit: number): ChangeWork<number> {
  for (const sql of eraseStatements) {
    const [erased = []] = yield [ask(sql, limit)];
    if (erased.length > 0) return erased.length;
  }
  return 0;
}

const sweepTombstones = (until: number, limit: number): RowChanges<number> => ({
  *write(): ChangeWork<Changed<number>> {
    const [removed = []] = yield [ask(removeOldTombstones, until, limit)];
    if (removed.length === 0) return { result: 0 };
    yield [ask(setSweptRevision, until)];
    const growth = { records: 0, total: -removed.length * rowBytes.tombstone };
    return { result: removed.length, effect: { growth } };
  },
});

function* sweepLocked(sweep: HistorySweep, limit: number): ChangeWork<unknown> {
  yield [{ kind: 'lock' }];
  return yield* sweepHistory(sweep, limit);
}

const repairRows = (nowSeconds: number): RowChanges<void> => ({
  *write(): ChangeWork<Changed<void>> {
    const repaired = yield* repairSubscriptions({ nowSeconds });
    if (repaired === undefined) return { result: undefined };
    const { bytes, ...effect } = repaired;
    return { result: undefined, effect: { ...effect, growth: { records: 0, total: bytes } } };
  },
});
