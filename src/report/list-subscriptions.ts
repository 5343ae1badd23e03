import type { TenantId } from '../storage/store.ts';
import { type FormattedReport, formatReport } from './format.ts';
import { planReport } from './plan.ts';
import type { ReportContext } from './report-context.ts';
import type { ReportQuery } from './report-query.ts';
import { runReport } from './run.ts';
import { createStages, type Timings } from './stage-timer.ts';
import { layoutOf } from './write-records.ts';

/** A response of the report, with the duration of each stage after parsing. */
export interface TimedReport<Body extends string | Buffer = string> extends FormattedReport<Body> {
  /** The tenant's revision that the page shows. */
  readonly revision: number;
  readonly timings: Timings;
}

/** The cache key of a page, apart from the tenant and its revision. */
export function pageKey({ limits, reportUrl }: ReportContext, query: ReportQuery): readonly unknown[] {
  const { canonical, filters, size, page, cursor, format } = query;
  const now = query.expiresWithinSeconds === undefined ? undefined : query.nowSeconds;
  return ['page', reportUrl, limits, canonical, filters, size, page, cursor, format, now];
}

/**
 * Implements `GET /v1/subscription` (`spec.md` "Endpoints") and the search: returns one page of the
 * tenant's subscriptions. Throws `StorageError` if the store fails.
 */
export async function listSubscriptions(
  context: ReportContext,
  tenant: TenantId,
  query: ReportQuery,
): Promise<TimedReport<Buffer>> {
  const { limits, reportUrl } = context;
  const stages = createStages();
  const plan = stages.run('plan', () => planReport(query, limits.firstPage));
  const page = await stages.run('run', () => runReport(context, tenant, plan, layoutOf(query.format)));
  const report = stages.run('format', () => formatReport(query, page, reportUrl, limits));
  return { ...report, revision: page.revision, timings: stages.timings };
}
