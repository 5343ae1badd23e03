import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { exportSubscriptions } from '../../report/export-subscriptions.ts';
import { createPageKey, listSubscriptions } from '../../report/list-subscriptions.ts';
import type { ReportContext } from '../../report/report-context.ts';
import type { ReportQuery } from '../../report/report-query.ts';
import { createStages, type StageTimer } from '../../report/stage-timer.ts';
import { accessOf } from '../listener/access.ts';
import { liftDeadline, withinRequest } from '../listener/request-deadline.ts';
import { createSlots, type ExportLimits } from '../listener/slots.ts';
import type { CachedSender } from './send-cached.ts';
import { sendExport } from './send-export.ts';

/** What sending reports needs. */
export interface ReportSending {
  readonly report: ReportContext;
  readonly exports: ExportLimits;
  readonly sendCached: CachedSender;
}

/**
 * Makes the function that sends a page of a report, or all of it, for the query that `parse`
 * returns.
 */
export function createReportSender({ report, exports, sendCached }: ReportSending) {
  const keyOf = createPageKey(report);
  const takeSlot = createSlots(exports, 'export', ', or read the report page by page');

  /** Sends one page of a report. */
  const sendPage = (request: FastifyRequest, reply: FastifyReply, query: ReportQuery, stages: StageTimer) => {
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: keyOf(query),
      load: () => listSubscriptions(withinRequest(report, request), tenant, query, stages),
    });
  };

  /** Streams all of a report. */
  const sendAll = async (request: FastifyRequest, reply: FastifyReply, query: ReportQuery) => {
    const { clientId, tenant } = accessOf(request);
    const release = takeSlot(clientId, tenant);
    try {
      const whole = await exportSubscriptions(withinRequest(report, request), tenant, query, exports.stallMs);
      liftDeadline(request); // `exports` bounds it from here on
      reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization, Accept', ...whole.headers });
      if (request.method !== 'HEAD')
        return sendExport(request, reply, { report: whole, limits: exports, onEnd: release });
      await whole.close();
      release();
      // a stream has no length, like the response to GET
      return reply.send(Readable.from([]));
    } catch (error) {
      release();
      throw error;
    }
  };

  return async (request: FastifyRequest, reply: FastifyReply, parse: () => ReportQuery) => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    return query.all ? await sendAll(request, reply, query) : await sendPage(request, reply, query, stages);
  };
}
