import type { Store, TenantId, TenantReader, TenantSql } from '../store.ts';
import { readHistory } from './history.ts';

/**
 * Seconds by which the clocks of two processes may differ. A last commit that is later than the
 * clock by more than this was stamped by a wrong clock.
 */
const clockSkewSecondsMax = 5;

/** By how many seconds a last commit is later than the clock; 0 if it is not, or hardly. */
export const aheadOf = (lastSeconds: number, nowSeconds: number): number =>
  lastSeconds - nowSeconds > clockSkewSecondsMax ? lastSeconds - nowSeconds : 0;

/** By how many seconds a tenant's history is later than the clock; 0 if it is not, or hardly. */
export async function readAhead(reader: TenantReader, nowSeconds: number): Promise<number> {
  const { kept } = await readHistory(reader);
  return kept === undefined ? 0 : aheadOf(kept.lastSeconds, nowSeconds);
}

/** The range in which instants of a tenant's history can be trusted, in UTC epoch seconds. */
export interface TrustedHistory {
  /** The last instant at which the history says what was current. */
  readonly untilSeconds: number;
  /** By how much the last commit is later than the clock; 0 if it is not. */
  readonly aheadSeconds: number;
}

/**
 * Makes the answer for an instant final: no later commit of any process, whatever its clock says,
 * is stamped before the instant (`commitRevision`). A commit that is under way either ends first,
 * because both lock the tenant, or is stamped later. Costs one read; the tenant is written only if
 * the instant is later than its last commit and than every instant that was settled before.
 *
 * Returns `undefined` for a tenant without history.
 */
export async function settleInstant(
  store: Store,
  tenant: TenantId,
  { seconds, nowSeconds }: { readonly seconds: number; readonly nowSeconds: number },
): Promise<TrustedHistory | undefined> {
  const values = [nowSeconds + clockSkewSecondsMax];
  const [end] = await store.readTenantOnce(tenant, { sql: selectEnd, values }, { isBounded: true });
  if (end === undefined || end.history_at === null) return undefined;
  const lastSeconds = Number(end.history_at);
  if (seconds > lastSeconds) await store.writeTenant(tenant, [{ sql: moveEnd, values: [seconds] }]);
  const aheadSeconds = aheadOf(lastSeconds, nowSeconds);
  const trusted = aheadSeconds > 0 ? Number(end.trusted ?? end.history_from_at) : Math.max(seconds, lastSeconds);
  return { untilSeconds: trusted, aheadSeconds };
}

/** The tenant as a table with `tenant_id`. */
const selectEnd: TenantSql = `select history_at, history_from_at, (
    select max(committed_at) from subscription_commit as c where c.tenant_id = $1 and c.committed_at <= $2
  ) as trusted
  from (select id as tenant_id, history_at, history_from_at from tenant) as t where tenant_id = $1`;

const moveEnd: TenantSql = `update tenant set history_at = $2
  where id in (select tenant_id from (select id as tenant_id from tenant) as t where tenant_id = $1)
    and history_at < $2 returning id`;
