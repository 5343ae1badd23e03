import { formatInstant } from '../../packages/contract/instant.ts';
import { checkRow } from '../../packages/service/import/check-row.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { until } from '../support/data-set.ts';

/** Changes the records of a tenant in our store, and in the tables of the handler. */
export class BothCopies {
  readonly #opened: BenchStore;
  readonly #tenant: TenantId;
  readonly #rows = syntheticRows({ count: 1_000_000, seed: 1, until });
  #created = 0;

  constructor(opened: BenchStore, tenant: TenantId) {
    this.#opened = opened;
    this.#tenant = tenant;
  }

  /** Creates the newest records of all, and returns their ids. */
  async create(count: number): Promise<string[]> {
    const rows = Array.from({ length: count }, () => this.#newest());
    await this.#opened.store.loadSubscriptions(this.#tenant, rows);
    const ids = rows.map(({ id }) => id);
    await this.#opened.administer(`insert into peer.subscription
      select tenant_id, id, status, to_timestamp(activation_date), to_timestamp(expiration_date), to_timestamp(created_date),
        product_id, iccid, email, record::json ->> 'device_id', (record::json ->> 'auto_renew')::boolean
      from subscription where id in (${listOf(ids)})`);
    return ids;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#opened.store.deleteSubscriptions(this.#tenant, ids);
    await this.#opened.administer(`delete from peer.subscription where id in (${listOf(ids)})`);
  }

  #newest() {
    const { value: row } = this.#rows.next();
    if (row === undefined) throw new RangeError('Cannot create a record: the rows are used up');
    this.#created += 1;
    const instant = formatInstant(until + this.#created);
    const checked = checkRow({ ...row, id: `new-${this.#created}`, createdDate: instant, activationDate: instant });
    if ('faults' in checked) throw new TypeError(`Cannot create a record: ${JSON.stringify(checked.faults)}`);
    return checked.row;
  }
}

const listOf = (ids: readonly string[]): string => ids.map((id) => `'${id}'`).join(', ');
