import type { TenantId } from '../storage/store.ts';
import { explainPage } from './explain-nothing.ts';
import { listsOf } from './filters.ts';
import { type FormattedReport, formatReport, requireLinks } from './format.ts';
import { planReport } from './plan.ts';
import type { ReportContext, ReportQuery } from './report-query.ts';
import { runReport } from './run.ts';
import { createStages, type StageTimer, type Timings } from './stages.ts';

/** A response of the report, with the duration of each stage. */
export interface TimedReport<Body extends string | Buffer = string> extends FormattedReport<Body> {
  /** The tenant's revision that the page shows. */
  readonly revision: number;
  readonly timings: Timings;
}

/**
 * Makes the function that returns what the entity tag of a page depends on, apart from the tenant
 * and its revision. The filters come last, because those of a search may contain spaces.
 */
export function createPageKey({ limits, reportUrl }: ReportContext): (query: ReportQuery) => string {
  const service = JSON.stringify([reportUrl, limits]);
  return ({ canonical, linkQuery, size, page, cursor, format, fields, datesIn, expiresWithinSeconds, nowSeconds }) => {
    const now = expiresWithinSeconds === undefined ? '' : nowSeconds;
    const at = cursor === undefined ? '' : `${cursor.direction} ${cursor.key.date} ${cursor.key.id}`;
    const filters = linkQuery === undefined ? JSON.stringify(canonical) : `?${linkQuery}`;
    return `page ${service} ${format} ${fields ?? ''} ${datesIn?.name ?? ''} ${size} ${page} ${now} ${at} ${filters}`;
  };
}

/**
 * Implements `GET /v1/subscription` (`spec.md` "Endpoints") and the search: returns one page of the
 * tenant's subscriptions. Throws `StorageError` if the store fails.
 */
export async function listSubscriptions(
  context: ReportContext,
  tenant: TenantId,
  query: ReportQuery,
  stages: StageTimer = createStages(),
): Promise<TimedReport<Buffer>> {
  const { limits, reportUrl } = context;
  requireLinks(query, reportUrl);
  const plan = stages.run('plan', () => planReport(query, limits.firstPage));
  const page = await stages.run('run', async () => {
    const read = await runReport(context, tenant, plan, listsOf(query));
    if (read.total > 0) return read;
    return { ...read, explanation: await explainPage(context.store, tenant, query, read.revision) };
  });
  const report = stages.run('format', () => formatReport(query, page, reportUrl, limits));
  return { ...report, revision: page.revision, timings: stages.timings };
}
