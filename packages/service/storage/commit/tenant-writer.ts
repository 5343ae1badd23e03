import type {
  ErasedCounts,
  HistorySweep,
  HistorySwept,
  LoadCounts,
  RecordOwner,
  TenantId,
  TenantWrites,
} from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import type { TenantChange } from './tenant-change.ts';

/** The changes of a store as functions; its engine runs each as one transaction. */
export abstract class TenantWriter implements Omit<TenantWrites, 'openStagedLoad' | 'lockImport' | 'writeTenant'> {
  /** Durable when it resolves. The caller knows the type of the result. */
  protected abstract change<T>(change: TenantChange): Promise<T>;

  loadSubscriptions(
    tenant: TenantId,
    rows: readonly SubscriptionRow[],
    expectsNew = false,
    importId?: string,
  ): Promise<LoadCounts> {
    return this.change({ kind: 'load', tenant, rows, expectsNew, importId });
  }

  deleteSubscriptions(tenant: TenantId, ids: readonly string[], owner?: RecordOwner): Promise<ErasedCounts> {
    return this.change({ kind: 'erase records', tenant, ids, owner });
  }

  eraseRows(tenant: TenantId, limit: number): Promise<number> {
    return this.change({ kind: 'delete tenant', tenant, limit });
  }

  sweepTombstones(tenant: TenantId, revision: number, limit: number): Promise<number> {
    return this.change({ kind: 'sweep', tenant, revision, limit });
  }

  sweepHistory(tenant: TenantId, sweep: HistorySweep, limit: number): Promise<HistorySwept> {
    return this.change({ kind: 'sweep history', tenant, sweep, limit });
  }

  recountSubscriptions(tenant: TenantId, nowSeconds: number): Promise<void> {
    return this.change({ kind: 'repair', tenant, nowSeconds });
  }
}
