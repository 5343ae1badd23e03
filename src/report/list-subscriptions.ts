import type { TenantId } from '../storage/store.ts';
import { type FormattedReport, formatReport } from './format.ts';
import { planReport } from './plan.ts';
import type { ReportContext } from './report-context.ts';
import type { ReportQuery } from './report-query.ts';
import { runReport } from './run.ts';

/** A report page with how long each stage after the parsing took. */
export interface TimedReport extends FormattedReport {
  /** The tenant's revision that it shows. */
  readonly revision: number;
  /** Milliseconds by stage, in their order. */
  readonly timings: Readonly<Record<'plan' | 'run' | 'format', number>>;
}

/**
 * Everything that a page depends on but the tenant and its revision: equal keys are equal pages.
 */
export function pageKey({ limits, reportUrl }: ReportContext, query: ReportQuery): readonly unknown[] {
  const { nowSeconds, ...asked } = query;
  const now = query.expiresWithinSeconds === undefined ? undefined : nowSeconds;
  return ['page', reportUrl, limits, asked, now];
}

/**
 * Answers `GET /v1/subscription` (`spec.md` "Endpoints") and the search: one page of the tenant's
 * own subscriptions. Fails with `StorageError` when the store is at fault.
 */
export async function listSubscriptions(
  context: ReportContext,
  tenant: TenantId,
  query: ReportQuery,
): Promise<TimedReport> {
  const { limits, reportUrl } = context;
  const started = performance.now();
  const plan = planReport(query, limits.firstPage);
  const planned = performance.now();
  const page = await runReport(context, tenant, plan);
  const ran = performance.now();
  const report = formatReport(query, page, reportUrl, limits);
  const timings = { plan: planned - started, run: ran - planned, format: performance.now() - ran };
  return { ...report, revision: page.revision, timings };
}
