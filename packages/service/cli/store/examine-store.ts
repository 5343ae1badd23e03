import { durationText } from '../../../contract/instant.ts';
import { parseMapping } from '../../import/column-mapping.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { StorageError } from '../../storage/error.ts';
import { checkRecords } from '../../storage/records/check.ts';
import type { Store, StoreCheck, TenantId } from '../../storage/store.ts';
import { isBeingDeleted } from '../../storage/tables/delete-tenant.ts';
import { readAhead } from '../../storage/tables/settle-instant.ts';
import { listTenants, type Tenant } from '../../storage/tables/tenant.ts';

export interface ReportedCheck extends StoreCheck {
  readonly tenant?: string;
  readonly records?: number;
  readonly repaired?: boolean;
}

/** Number of checked tenants, number of all, and the progress of the next one in percent. */
interface ExamineProgress {
  readonly checked: number;
  readonly tenants: number;
  readonly percent: number;
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
  /** Receives each new percent, and each tenant before it is checked. */
  readonly onProgress?: (progress: ExamineProgress) => void;
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
  for (const [index, row] of tenants.entries()) {
    const { tenant } = row;
    const progress = { checked: index, tenants: tenants.length };
    onProgress({ ...progress, percent: 0 });
    let shown = 0;
    const onShare = (share: number): void => {
      const percent = Math.floor(share * 100);
      if (percent > shown) onProgress({ ...progress, percent });
      shown = Math.max(shown, percent);
    };
    checks.push(
      ...checkColumns(row),
      ...(await examineTenant(store, tenant, { onShare, ...(now && { now }), repairAt })),
    );
  }
  return checks;
}

/** Finds a damaged mapping of columns, which only people know. */
function checkColumns({ tenant, columns }: Tenant): ReportedCheck[] {
  if (columns === null || isMapping(columns)) return [];
  const message = `Cannot rely on the settings of the tenant: their JSON must be whole; replace its saved mapping of columns with: subreport tenant map-columns ${tenant} FILE`;
  return [{ check: 'tenant', tenant, ok: false, message }];
}

function isMapping(text: string): boolean {
  try {
    parseMapping(text);
    return true;
  } catch {
    return false;
  }
}

interface TenantOptions extends Pick<ExamineOptions, 'now' | 'repairAt'> {
  readonly onShare: (share: number) => void;
}

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

/**
 * Finds nothing in a tenant whose deletion has begun: its counts are erased before its records.
 * Counts and records take about as long.
 */
const checkTenant = (
  store: Store,
  tenant: TenantId,
  { onShare, now }: TenantOptions,
): Promise<readonly ReportedCheck[]> =>
  store.readTenant(tenant, async (reader) => {
    if (await isBeingDeleted(reader)) return [];
    const { rows, problems } = await checkCounts(reader, (share) => onShare(share / 2));
    const records = await checkRecords(reader, store.engine, (checked) => onShare((1 + checked / rows) / 2));
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
      ...(now === undefined ? [] : [{ check: 'history', tenant, ...describeAhead(await readAhead(reader, now())) }]),
    ];
  });

/** A clock that was ahead leaves commits of the future, and a clock that is behind finds them. */
const describeAhead = (aheadSeconds: number): Pick<ReportedCheck, 'ok' | 'message'> =>
  aheadSeconds === 0
    ? { ok: true, message: 'no commit is later than the clock' }
    : {
        ok: false,
        message: `Cannot rely on the times of the history: its last commit must not be later than the clock: the history is ${durationText(aheadSeconds)} ahead of the clock; if the clock is right, begin a new history with: subreport doctor --repair`,
      };

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
