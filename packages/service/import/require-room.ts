import { overBudget } from '../storage/commit/make-room.ts';
import { readPlans, readValues, requireFew, valuesMax } from '../storage/counts/limit-values.ts';
import type { Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { dataBytesOf, rowBytes, sumRecords, sumStored } from '../storage/tables/storage-use.ts';
import { findTenant } from '../storage/tables/tenant.ts';

/** Records whose stored size one statement reads. */
const batchRows = 500;

/** A source, and the tenant that must have room for it. */
export interface RoomCheck {
  readonly store: Store;
  readonly tenant: TenantId;
  /** The bytes that all valid rows are charged, if none of them is stored yet. */
  readonly bytes: number;
  /** Reads the source again, and passes on each valid row. */
  readonly readAgain: (onRow: OnRow) => Promise<unknown>;
}

export type OnRow = (row: SubscriptionRow) => Promise<void>;

/** The bytes that a row is charged. */
export const bytesOfRow = (row: SubscriptionRow): number => dataBytesOf(row) + rowBytes.record;

/**
 * Throws `StorageError` `OVER_BUDGET`, before any row is stored, if the rows of a source cannot all
 * be stored. Only if they might not fit, the source is read again and compared with what is stored;
 * a row that the source repeats then counts each time.
 */
export async function requireRoomFor({ store, tenant, bytes, readAgain }: RoomCheck): Promise<void> {
  const bytesMax = store.tenantBytesMax;
  const charged = bytesMax === 0 ? 0 : ((await findTenant(store, tenant))?.chargedBytes ?? 0);
  if (bytesMax === 0 || charged + bytes <= bytesMax) return;
  let stored = 0;
  let ids: string[] = [];
  const flush = async (): Promise<void> => {
    stored += await sumStored(store, tenant, ids);
    ids = [];
  };
  await readAgain(async ({ id }) => {
    if (ids.push(id) >= batchRows) await flush();
  });
  await flush();
  const more = bytes - stored;
  // counts records and two commit rows only; history and tombstones can be removed
  const needed = (await sumRecords(store, tenant)) + more + 2 * rowBytes.commit;
  if (needed > bytesMax && more > 0) throw overBudget(bytesMax, needed, more);
}

/** Maximum pairs of product and plan in memory; the source is read again for other products. */
const plansMax = 100_000;

/**
 * The distinct values of a source, or of some of its products, as far as they decide whether its
 * rows can be stored.
 */
export class SourceValues {
  readonly #statuses = new Set<string | null>();
  readonly #plans = new Map<string, Set<string>>();
  #planCount = 0;
  readonly #only: ReadonlySet<string> | undefined;
  /** Products whose plans another reading must compare. */
  readonly unread = new Set<string>();

  constructor(only?: ReadonlySet<string>) {
    this.#only = only;
  }

  add({ status, productId, planId }: SubscriptionRow): void {
    if (this.#statuses.size <= valuesMax.statuses) this.#statuses.add(status);
    if (this.#only?.has(productId) === false || this.unread.has(productId)) return;
    const plans = this.#plansOf(productId);
    if (planId === null || plans === undefined || plans.has(planId)) return;
    if (plans.size > valuesMax.plans) return;
    if (this.#planCount >= plansMax) {
      // the others stay complete
      this.#planCount -= plans.size;
      plans.clear();
      this.unread.add(productId);
      return;
    }
    plans.add(planId);
    this.#planCount += 1;
  }

  /**
   * Throws `StorageError` `OVER_BUDGET` if a tenant would have too many distinct values. Reads the
   * source again for products whose plans were too many to keep.
   */
  async requireFewIn(target: Pick<RoomCheck, 'store' | 'tenant'>, readAgain: RoomCheck['readAgain']): Promise<void> {
    await this.#compare(target);
    if (this.unread.size === 0) return;
    const rest = new SourceValues(this.unread);
    await readAgain(async (row) => rest.add(row));
    await rest.requireFewIn(target, readAgain);
  }

  async #compare({ store, tenant }: Pick<RoomCheck, 'store' | 'tenant'>): Promise<void> {
    await store.readTenant(tenant, async (reader) => {
      const { statuses, products } = await readValues(reader);
      requireFew('statuses', statuses.length, new Set([...this.#statuses, ...statuses]).size);
      requireFew('products', products.length, new Set([...this.#plans.keys(), ...products]).size);
      for (const [product, plans] of this.#plans) {
        const stored = await readPlans(reader, product);
        requireFew('plans', stored.length, new Set([...plans, ...stored]).size);
      }
    });
  }

  /** The plans of a product so far; `undefined` if there are too many products anyway. */
  #plansOf(product: string): Set<string> | undefined {
    const known = this.#plans.get(product);
    if (known !== undefined || this.#plans.size > valuesMax.products) return known;
    const plans = new Set<string>();
    this.#plans.set(product, plans);
    return plans;
  }
}
