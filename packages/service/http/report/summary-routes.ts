import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { changesSummaryKey, getChangesSummary } from '../../report/get-changes-summary.ts';
import { getSubscriptionSummary, summaryKey } from '../../report/get-subscription-summary.ts';
import { changesKey, listChanges } from '../../report/list-changes.ts';
import { changeFormats, parseChanges, parseChangesSummary } from '../../report/parse-changes.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { createStages, type StageTimer } from '../../report/stages.ts';
import type { TenantId } from '../../storage/store.ts';
import { accessOf } from '../listener/access-log.ts';
import { queryOf } from '../listener/operation-routes.ts';
import { whileConnected } from '../listener/request-deadline.ts';
import { acceptedFormat, acceptJson, type SharedParts } from './report-routes.ts';
import type { TaggedResponse } from './send-tagged.ts';

/** Stages of an operation whose query is parsed before its response is read. */
interface Answer<Query> {
  readonly parse: () => Query;
  readonly keyOf: (query: Query) => string;
  readonly load: (
    context: ReportContext,
    tenant: TenantId,
    query: Query,
    stages: StageTimer,
  ) => ReturnType<TaggedResponse['load']>;
}

/** Adds the summary of the report, its changes and their summary. */
export function addSummaryRoutes(app: FastifyInstance, { report, sendTagged }: SharedParts): void {
  const send = async <Query>(
    request: FastifyRequest,
    reply: FastifyReply,
    { parse, keyOf, load }: Answer<Query>,
  ): Promise<FastifyReply> => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    const { tenant } = accessOf(request);
    return sendTagged(request, reply, {
      key: keyOf(query),
      load: () => load(whileConnected(report, request), tenant, query, stages),
    });
  };
  // before a record of the id 'summary'
  app.get(operations.getSubscriptionSummary.path, { onRequest: acceptJson }, (request, reply) =>
    send(request, reply, {
      parse: () => parseSummary(queryOf(request), report),
      keyOf: summaryKey,
      load: ({ store }, tenant, query, stages) => getSubscriptionSummary(store, tenant, query, stages),
    }),
  );
  app.get(operations.listSubscriptionChanges.path, (request, reply) =>
    send(request, reply, {
      parse: () => parseChanges(queryOf(request), report, acceptedFormat(request, changeFormats)),
      keyOf: (query) => changesKey(report, query),
      load: listChanges,
    }),
  );
  app.get(operations.getChangesSummary.path, { onRequest: acceptJson }, (request, reply) =>
    send(request, reply, {
      parse: () => parseChangesSummary(queryOf(request), report),
      keyOf: changesSummaryKey,
      load: getChangesSummary,
    }),
  );
}
