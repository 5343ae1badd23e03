import type { FastifyReply, FastifyRequest } from 'fastify';
import { getSubscriptionSummary, summaryKey } from '../../report/get-subscription-summary.ts';
import { createStages } from '../../report/stage-timer.ts';
import type { SummaryQuery } from '../../report/summary-query.ts';
import { accessOf } from '../listener/access.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import type { ReportSending } from './send-report.ts';

/** Makes the function that sends a summary for the query that `parse` returns. */
export function createSummarySender({ report, sendCached }: Omit<ReportSending, 'exports'>) {
  return (request: FastifyRequest, reply: FastifyReply, parse: () => SummaryQuery) => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: summaryKey(query),
      load: () => getSubscriptionSummary(withinRequest(report, request).store, tenant, query, stages),
    });
  };
}
