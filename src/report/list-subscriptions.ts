import type { ReportFormat } from '../contract/report.ts';
import type { TenantId } from '../storage/store.ts';
import { type FormattedReport, formatReport } from './format.ts';
import { planReport } from './plan.ts';
import type { ReportContext, ReportQuery } from './report-query.ts';
import { runReport } from './run.ts';
import { createStages, type StageTimer, type Timings } from './stage-timer.ts';
import { layoutOf } from './write-records.ts';

/** A response of the report, with the duration of each stage. */
export interface TimedReport<Body extends string | Buffer = string> extends FormattedReport<Body> {
  /** The tenant's revision that the page shows. */
  readonly revision: number;
  readonly timings: Timings;
}

/** A report as a request names it. */
export interface AskedReport {
  /** The query string after `?`, or the body after `search `: never the same for two requests. */
  readonly text: string;
  /** The format that the `Accept` header allows. */
  readonly accepted: ReportFormat | undefined;
}

/**
 * Whether the text of a request may name a whole report, or a range that depends on the time; names
 * may be encoded in a query string (`%`) and in JSON (`\\`).
 */
export const needsParsing = ({ text }: AskedReport): boolean => /all|within|%[^&=]*=|\\/.test(text);

/**
 * Makes the function that returns the cache key of a page, apart from the tenant and its revision.
 * It is the text of the request, so that a cached page is found without parsing, which takes a
 * sixth of the time of such a request; `query` is needed if `needsParsing`. The text comes last,
 * because it may contain spaces.
 */
export function createPageKey({ limits, reportUrl }: ReportContext) {
  const service = JSON.stringify([reportUrl, limits]);
  return ({ text, accepted }: AskedReport, query?: ReportQuery): string => {
    const now = query?.expiresWithinSeconds === undefined ? '' : query.nowSeconds;
    return `page ${service} ${accepted} ${now} ${text}`;
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
  const plan = stages.run('plan', () => planReport(query, limits.firstPage));
  const page = await stages.run('run', () => runReport(context, tenant, plan, layoutOf(query.format)));
  const report = stages.run('format', () => formatReport(query, page, reportUrl, limits));
  return { ...report, revision: page.revision, timings: stages.timings };
}
