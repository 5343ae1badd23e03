import { durationText } from '../../../contract/instant.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { StorageError } from '../../storage/error.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import type { Store, StoreCheck, TenantId } from '../../storage/store.ts';
import { isBeingDeleted } from '../../storage/tables/delete-tenant.ts';
import { readAhead } from '../../storage/tables/settle-instant.ts';
import { listTenants } from '../../storage/tables/tenant.ts';

export interface ReportedCheck extends StoreCheck {
  readonly tenant?: string;
  readonly records?: number;
  readonly repaired?: boolean;
}

/** Maximum problems reported per tenant; a store with many is repaired, not read about. */
const problemsShownMax = 5;

interface ExamineOptions {
  /** The clock to compare the history with; absent before a restore, which begins a new one. */
  readonly now?: () => number;
  /** The current time, to repair what can be repaired. */
  readonly repairAt?: number | undefined;
  /** Whether each entry of each index is compared with its row (`Store.examine`). */
  readonly full?: boolean;
  /** Called before each tenant is checked, with the numbers of checked tenants and of all. */
  readonly onProgress?: (checked: number, tenants: number) => void;
}

/** Checks a store and every tenant in it. */
export async function examineStore(
  store: Store,
  { now, repairAt, full, onProgress = () => undefined }: ExamineOptions = {},
): Promise<readonly ReportedCheck[]> {
  const checks: ReportedCheck[] = [...(await store.examine(full))];
  const readable = checks.every(({ check, ok }) => ok || (check !== 'schema' && check !== 'integrity'));
  if (!readable) return checks; // an unreadable store cannot be counted
  const tenants = (await listTenants(store)).filter(({ deletingSince }) => deletingSince === null);
  for (const [checked, { tenant }] of tenants.entries()) {
    onProgress(checked, tenants.length);
    checks.push(...(await examineTenant(store, tenant, { ...(now && { now }), repairAt })));
  }
  return checks;
}

type TenantOptions = Pick<ExamineOptions, 'now' | 'repairAt'>;

async function examineTenant(
  store: Store,
  tenant: TenantId,
  options: TenantOptions,
): Promise<readonly ReportedCheck[]> {
  const { repairAt } = options;
  const check = () => checkTenant(store, tenant, options).catch((error) => [unreadable(tenant, error)]);
  const found = await check();
  if (repairAt === undefined || found.every(({ ok }) => ok)) return found;
  await store.recountSubscriptions(tenant, repairAt).catch((error) => unreadable(tenant, error));
  const repaired = await check();
  return repaired.map((check, index) => ({ ...check, ...(found[index]?.ok === false && { repaired: check.ok }) }));
}

/** Damage that prevents a check or a repair. Throws any error of the store itself. */
function unreadable(tenant: TenantId, error: unknown): ReportedCheck {
  if (error instanceof StorageError) throw error;
  const problem = `a value cannot be read: ${(error as Error).message}`;
  return { check: 'records', tenant, ok: false, message: problemsText('the records', recordsRule, [problem]) };
}

/** Finds nothing in a tenant whose deletion has begun: its counts are erased before its records. */
const checkTenant = (store: Store, tenant: TenantId, { now }: TenantOptions): Promise<readonly ReportedCheck[]> =>
  store.readTenant(tenant, async (reader) => {
    if (await isBeingDeleted(reader)) return [];
    const { rows, problems } = await checkCounts(reader);
    const records = await checkRecords(reader, store.engine);
    const ahead = now === undefined ? [] : describeAhead(await readAhead(reader, now()));
    const wrong = [...records.problems, ...ahead];
    return [
      {
        ...{ check: 'counts', tenant, records: rows, ok: problems.length === 0 },
        message:
          problems.length === 0
            ? `${rows} records, all counts exact`
            : problemsText('the counts', countsRule, problems),
      },
      {
        ...{ check: 'records', tenant, ok: wrong.length === 0 },
        message: wrong.length === 0 ? 'all match their columns' : problemsText('the records', recordsRule, wrong),
      },
    ];
  });

/** A clock that was ahead leaves commits of the future, and a clock that is behind finds them. */
const describeAhead = (seconds: number): readonly string[] =>
  seconds === 0
    ? []
    : [`the history is ${durationText(seconds)} ahead of the clock: if that is right, begin a new one`];

const countsRule = 'they must match the records';
const recordsRule =
  'each, and each former version, must match its columns, and agree with the tombstones, times and revisions of the tenant';

function problemsText(what: string, rule: string, problems: readonly string[]): string {
  const shown = problems.slice(0, problemsShownMax).join('; ');
  const more = problems.length > problemsShownMax ? `; and ${problems.length - problemsShownMax} more` : '';
  const again = what === 'the records' ? 'import the records again if their JSON is damaged, then ' : '';
  return `Cannot rely on ${what}: ${rule}: ${shown}${more}; ${again}repair them with: subreport doctor --repair`;
}

export const checkLine = ({ check, tenant, ok, message, repaired }: ReportedCheck): string =>
  `${ok ? 'ok     ' : 'PROBLEM'} ${check}${tenant === undefined ? '' : ` of ${tenant}`}: ${message}${repaired === true ? ' (repaired)' : ''}`;
