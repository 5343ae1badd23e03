import { type ChangesSummary, listedMax } from '../../contract/changes-summary.ts';
import { formatInstant } from '../../contract/instant.ts';
import { reportFormats } from '../../contract/report.ts';
import {
  type ChangesCounts,
  type ChangesPeriod,
  type ImportChanges,
  summariseChanges,
} from '../storage/read/changes-summary.ts';
import type { SettledMoment } from '../storage/read/past.ts';
import { readProductNames } from '../storage/read/summary.ts';
import type { SqlValue, TenantId, TenantReader } from '../storage/store.ts';
import { readHistory, type TenantHistory } from '../storage/tables/history.ts';
import { calendarOf, formatBucket, periodWithin } from './calendar.ts';
import { keyBehind } from './change-token.ts';
import { refuse } from './error.ts';
import { findPeriodStart, isReadable, settleSince, writeToken } from './list-changes.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { notKept, readTenant, requireRevision, settle } from './moment.ts';
import type { ChangesSummaryQuery } from './parse-changes.ts';
import type { ReportContext } from './report-query.ts';
import { createStages, type StageTimer } from './stages.ts';

/** What the entity tag of a summary of changes depends on, apart from tenant and revision. */
export const changesSummaryKey = (query: ChangesSummaryQuery): string => JSON.stringify(['changes summary', query]);

/**
 * Implements `GET /v1/subscription/changes/summary`: counts the changes of a period, each record
 * once, all in one snapshot. Throws `ReportError` `HISTORY_NOT_KEPT` or `RESYNC_REQUIRED` if the
 * period is not known, and `StorageError` if the store fails.
 */
export async function getChangesSummary(
  { store, now }: Pick<ReportContext, 'store' | 'now'>,
  tenant: TenantId,
  query: ChangesSummaryQuery,
  stages: StageTimer = createStages(),
): Promise<TimedReport> {
  const read = await stages.run('run', async () => {
    const start = await settleSince(store, tenant, query.since, now());
    const end = await settle(store, tenant, query.until, { nowSeconds: now(), parameter: 'until' });
    return readTenant(store, tenant, (reader) => readPeriod(reader, tenant, { ...query, start, end }));
  });
  const summary = stages.run('format', () => formatCounts(tenant, query.zone, read));
  const headers = {
    'content-type': reportFormats.json.contentType,
    'x-revision': String(summary.revision),
    'x-total-count': String(summary.total),
  };
  return { body: JSON.stringify(summary), headers, revision: read.history.revision, timings: stages.timings };
}

/** The counts of a period, and what they need to be written. */
interface ReadPeriod {
  readonly history: TenantHistory;
  readonly base: number;
  /** The last revision of the period. */
  readonly end: number;
  readonly counts: ChangesCounts;
  readonly productNames: ReadonlyMap<SqlValue, string>;
}

/** The bounds of a period; instants are settled. */
interface PeriodBounds extends Pick<ChangesSummaryQuery, 'since' | 'zone'> {
  readonly start: SettledMoment | undefined;
  readonly end: SettledMoment | undefined;
}

async function readPeriod(reader: TenantReader, tenant: TenantId, bounds: PeriodBounds): Promise<ReadPeriod> {
  const history = await readHistory(reader);
  const { revision } = history;
  const { since, start: moment } = bounds;
  const { key, base } = await findPeriodStart(reader, tenant, { history, since, moment });
  if (!isReadable(history, base)) throw notKept(history, { parameter: 'since', value: `revision ${base}` });
  const end = bounds.end === undefined ? revision : (await requireRevision(reader, bounds.end, 'until')).revision;
  const fault = { parameter: 'until', value: `revision ${end}`, rule: `after since, which is revision ${base}` };
  if (end < base) refuse([fault], false);
  const period: ChangesPeriod = { after: key, base, ...(end < revision && { until: end }) };
  const { fromSeconds, lastSeconds = 0 } = history.kept ?? {};
  const days = calendarOf('day', bounds.zone, periodWithin(fromSeconds, undefined, lastSeconds));
  const counts = await summariseChanges(reader, period, days, listedMax);
  const products = new Set(counts.products.listed.flatMap(({ from, to }) => [String(from), String(to)]));
  const productNames = products.size === 0 ? new Map() : await readProductNames(reader, [...products]);
  return { history, base, end, counts, productNames };
}

function formatCounts(
  tenant: TenantId,
  zone: string | undefined,
  { history, base, end, counts, productNames }: ReadPeriod,
): ChangesSummary {
  const { kinds, renewed, status, products, autoRenew, days, imports, importCount } = counts;
  const nameOf = (member: 'from_name' | 'to_name', id: string) => {
    const name = productNames.get(id);
    return name === undefined ? {} : { [member]: name };
  };
  return {
    total: kinds.added + kinds.changed + kinds.removed,
    ...kinds,
    renewed,
    by: {
      status: [...status.listed],
      'product-id': products.listed.map(({ from, to, count }) => ({
        from: String(from),
        ...nameOf('from_name', String(from)),
        to: String(to),
        ...nameOf('to_name', String(to)),
        count,
      })),
      'auto-renew': autoRenew.map(({ from, to, count }) => ({ from: String(from), to: String(to), count })),
      day: [...days].map(([day, ofDay]) => ({
        value: day === undefined ? null : formatBucket('day', day),
        ...ofDay,
      })),
      import: imports.map(formatImport),
    },
    ...(zone !== undefined && { zone }),
    omitted: { status: status.others, 'product-id': products.others, import: importCount - imports.length },
    since_revision: base,
    revision: end,
    next: writeToken(tenant, history, keyBehind(end), { base, began: end, clean: end, isDescribed: false }),
  };
}

function formatImport({ importId, firstSeconds, lastSeconds, kinds, renewed, status }: ImportChanges) {
  return {
    ...(importId !== undefined && { import_id: importId }),
    ...(firstSeconds !== undefined && { first_at: formatInstant(firstSeconds) }),
    ...(lastSeconds !== undefined && { last_at: formatInstant(lastSeconds) }),
    ...kinds,
    renewed,
    status: [...status.listed],
    omitted: status.others,
  };
}
