import { type CountsCheck, checkCounts } from '../storage/check-counts.ts';
import type { Store, TenantId } from '../storage/store.ts';
import type { StoreCheck } from '../storage/store-check.ts';
import { listTenants } from '../storage/tenant.ts';

/** A check as it is reported: of the whole store, or of one tenant. */
export interface ReportedCheck extends StoreCheck {
  readonly tenant?: string;
  /** Records of the tenant. */
  readonly records?: number;
  readonly repaired?: boolean;
}

/** Problems of one tenant that are told; a store that is broken in many places is repaired, not read. */
const toldMax = 5;

/** Checks a store and every tenant in it; with `repair`, mends what can be mended. */
export async function examineStore(store: Store, repair: boolean): Promise<readonly ReportedCheck[]> {
  const checks: ReportedCheck[] = [...(await store.examine())];
  const readable = checks.every(({ check, ok }) => ok || (check !== 'schema' && check !== 'integrity'));
  if (!readable) return checks; // nothing can be counted that cannot be read
  for (const { tenant } of (await listTenants(store)).filter(({ deletingSince }) => deletingSince === null))
    checks.push(await examineCounts(store, tenant, repair));
  return checks;
}

async function examineCounts(store: Store, tenant: TenantId, repair: boolean): Promise<ReportedCheck> {
  const found = await store.readTenant(tenant, checkCounts);
  if (found.problems.length === 0 || !repair) return toCheck(tenant, found);
  await store.recountSubscriptions(tenant);
  const repaired = await store.readTenant(tenant, checkCounts);
  return { ...toCheck(tenant, repaired), repaired: repaired.problems.length === 0 };
}

function toCheck(tenant: string, { rows, problems }: CountsCheck): ReportedCheck {
  const told = problems.slice(0, toldMax).join('; ');
  const more = problems.length > toldMax ? `; and ${problems.length - toldMax} more` : '';
  const message =
    problems.length === 0
      ? `${rows} records, all counts exact`
      : `Cannot rely on the counts: they must be those of the records: ${told}${more}; mend them with: subreport doctor --repair`;
  return { check: 'counts', tenant, records: rows, ok: problems.length === 0, message };
}

/** One check as a line for people. */
export const checkLine = ({ check, tenant, ok, message, repaired }: ReportedCheck): string =>
  `${ok ? 'ok     ' : 'PROBLEM'} ${check}${tenant === undefined ? '' : ` of ${tenant}`}: ${message}${repaired === true ? ' (repaired)' : ''}`;
