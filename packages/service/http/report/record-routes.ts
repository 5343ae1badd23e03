import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { reportFormats } from '../../../contract/report.ts';
import { getSubscription, getSubscriptionHistory } from '../../report/get-subscription.ts';
import { parseNoParameters } from '../../report/parse.ts';
import { parseOne } from '../../report/parse-one.ts';
import type { ReportContext } from '../../report/report-query.ts';
import type { TenantId } from '../../storage/store.ts';
import { accessOf } from '../listener/access-log.ts';
import { queryOf, routePath } from '../listener/operation-routes.ts';
import { whileConnected } from '../listener/request-deadline.ts';
import { acceptJson, type SharedParts } from './report-routes.ts';

/** Adds `GET /v1/subscription/{id}` and its history. */
export function addRecordRoutes(app: FastifyInstance, { report, sendTagged }: SharedParts): void {
  const onRequest = acceptJson;
  const sendOne = (
    request: FastifyRequest,
    reply: FastifyReply,
    key: readonly unknown[],
    read: (context: ReportContext, tenant: TenantId) => ReturnType<typeof getSubscription>,
  ): Promise<FastifyReply> =>
    sendTagged(request, reply, {
      key: JSON.stringify(key),
      load: async () => {
        const { record, revision } = await read(whileConnected(report, request), accessOf(request).tenant);
        return { body: record, headers: { 'content-type': reportFormats.json.contentType }, revision, timings: [] };
      },
    });
  const historyPath = routePath(operations.getSubscriptionHistory.path);
  app.get<{ Params: { id: string } }>(historyPath, { onRequest }, async (request, reply) => {
    parseNoParameters(queryOf(request));
    const { id } = request.params;
    return sendOne(request, reply, ['history', id], (context, tenant) => getSubscriptionHistory(context, tenant, id));
  });
  const path = routePath(operations.getSubscription.path);
  app.get<{ Params: { id: string } }>(path, { onRequest }, async (request, reply) => {
    const query = parseOne(queryOf(request), report);
    const { id } = request.params;
    return sendOne(request, reply, ['record', id, query], (context, tenant) =>
      getSubscription(context, tenant, id, query),
    );
  });
}
