import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ChangesQuery } from '../../report/changes-query.ts';
import { changesKey, listChanges } from '../../report/list-changes.ts';
import { createStages } from '../../report/stage-timer.ts';
import { accessOf } from '../listener/access.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import type { ReportSending } from './send-report.ts';

/** Makes the function that sends the changes after a token, for the query that `parse` returns. */
export function createChangesSender({ report, sendCached }: Omit<ReportSending, 'exports'>) {
  return async (request: FastifyRequest, reply: FastifyReply, parse: () => ChangesQuery): Promise<FastifyReply> => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: changesKey(report, query),
      load: () => listChanges(withinRequest(report, request), tenant, query, stages),
    });
  };
}
