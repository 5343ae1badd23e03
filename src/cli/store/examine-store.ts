import { checkCounts } from '../../storage/counts/check.ts';
import { checkRecords } from '../../storage/records/check.ts';
import type { Store, StoreCheck, TenantId } from '../../storage/store.ts';
import { listTenants } from '../../storage/tables/tenant.ts';

export interface ReportedCheck extends StoreCheck {
  readonly tenant?: string;
  readonly records?: number;
  readonly repaired?: boolean;
}

/** Maximum problems reported per tenant; a store with many is repaired, not read about. */
const problemsShownMax = 5;

/**
 * Checks a store and every tenant in it; with `repairAt`, the current time, repairs what it can.
 * `onProgress` receives how many tenants were checked, and how many there are.
 */
export async function examineStore(
  store: Store,
  repairAt?: number,
  onProgress: (checked: number, tenants: number) => void = () => undefined,
): Promise<readonly ReportedCheck[]> {
  const checks: ReportedCheck[] = [...(await store.examine())];
  const readable = checks.every(({ check, ok }) => ok || (check !== 'schema' && check !== 'integrity'));
  if (!readable) return checks; // an unreadable store cannot be counted
  const tenants = (await listTenants(store)).filter(({ deletingSince }) => deletingSince === null);
  for (const [index, { tenant }] of tenants.entries()) {
    onProgress(index, tenants.length);
    checks.push(...(await examineTenant(store, tenant, repairAt)));
  }
  return checks;
}

async function examineTenant(store: Store, tenant: TenantId, repairAt?: number): Promise<readonly ReportedCheck[]> {
  const found = await checkTenant(store, tenant);
  if (repairAt === undefined || found.every(({ ok }) => ok)) return found;
  await store.recountSubscriptions(tenant, repairAt);
  const repaired = await checkTenant(store, tenant);
  return repaired.map((check, index) => ({ ...check, ...(found[index]?.ok === false && { repaired: check.ok }) }));
}

const checkTenant = (store: Store, tenant: TenantId): Promise<readonly ReportedCheck[]> =>
  store.readTenant(tenant, async (reader) => {
    const { rows, problems } = await checkCounts(reader);
    const records = await checkRecords(reader);
    const counts = { check: 'counts', tenant, records: rows, ok: problems.length === 0 };
    return [
      {
        ...counts,
        message: counts.ok ? `${rows} records, all counts exact` : problemsText('the counts', countsRule, problems),
      },
      {
        check: 'records',
        tenant,
        ok: records.problems.length === 0,
        message:
          records.problems.length === 0
            ? 'all match their columns'
            : problemsText('the records', recordsRule, records.problems),
      },
    ];
  });

const countsRule = 'they must match the records';
const recordsRule = 'each must match its columns, have a revision of at most that of the tenant, and have no tombstone';

function problemsText(what: string, rule: string, problems: readonly string[]): string {
  const shown = problems.slice(0, problemsShownMax).join('; ');
  const more = problems.length > problemsShownMax ? `; and ${problems.length - problemsShownMax} more` : '';
  const again = what === 'the records' ? ', then import the records again: damaged JSON is not repaired' : '';
  return `Cannot rely on ${what}: ${rule}: ${shown}${more}; repair them with: subreport doctor --repair${again}`;
}

export const checkLine = ({ check, tenant, ok, message, repaired }: ReportedCheck): string =>
  `${ok ? 'ok     ' : 'PROBLEM'} ${check}${tenant === undefined ? '' : ` of ${tenant}`}: ${message}${repaired === true ? ' (repaired)' : ''}`;
