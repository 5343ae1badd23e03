import type { TenantId } from '../storage/store.ts';
import { type FormattedReport, formatReport } from './format.ts';
import { parseReport } from './parse.ts';
import { planReport } from './plan.ts';
import type { ReportContext } from './report-context.ts';
import { runReport } from './run.ts';

/** A report page with how long each stage took. */
export interface TimedReport extends FormattedReport {
  /** Milliseconds by stage, in their order. */
  readonly timings: Readonly<Record<'parse' | 'plan' | 'run' | 'format', number>>;
}

/**
 * Answers `GET /v1/subscription` (`spec.md` "Endpoints"): one page of the tenant's own subscriptions. `queryString` is the raw one, without `?`.
 * Fails with `ReportError` when the query is at fault, `StorageError` when the store is.
 */
export async function listSubscriptions(
  context: ReportContext,
  tenant: TenantId,
  queryString: string,
): Promise<TimedReport> {
  const { store, limits, reportUrl } = context;
  const started = performance.now();
  const query = parseReport(queryString, limits);
  const parsed = performance.now();
  const plan = planReport(query, limits.firstPage);
  const planned = performance.now();
  const page = await runReport(store, tenant, plan);
  const ran = performance.now();
  const report = formatReport(query, page, reportUrl, limits);
  const formatted = performance.now();
  const timings = { parse: parsed - started, plan: planned - parsed, run: ran - planned, format: formatted - ran };
  return { ...report, timings };
}
