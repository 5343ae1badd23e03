import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import type { Access } from '../../auth/verify/resource-server.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { accessOf } from '../listener/access-log.ts';
import { type FairQueue, takeTurn } from '../listener/fair-queue.ts';
import type { RateLimiter } from '../listener/rate-limit.ts';
import type { ExportLimits } from '../listener/slots.ts';
import { refuseMethod } from '../listener/unrouted.ts';
import { addFindingsRoute, createFindingsSender } from './findings-routes.ts';
import { addRecordRoutes } from './record-routes.ts';
import { addReportRoutes, createReportSender } from './report-routes.ts';
import { createTaggedSender } from './send-tagged.ts';
import { addSummaryRoutes } from './summary-routes.ts';

export interface SubscriptionRoutes {
  readonly report: ReportContext;
  /** Checks the `Authorization` header for the scope of the report. */
  readonly authorize: (header: string | undefined) => Promise<Access>;
  readonly limiter: Pick<RateLimiter, 'count'>;
  readonly queue: FairQueue;
  readonly exports: ExportLimits;
}

/** Returns the client of a request, or rejects. */
type AuthorizeRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<Access>;

/**
 * Adds the report operations to a scope, whose prefix precedes their paths. By default, the access
 * token of a request authorizes it.
 */
export type AddSubscriptionRoutes = (app: FastifyInstance, authorize?: AuthorizeRequest) => void;

/**
 * Makes the function that adds the report operations. Wherever they are added, they share the
 * limits.
 */
export function createSubscriptionRoutes(routes: SubscriptionRoutes): AddSubscriptionRoutes {
  const { report, limiter, queue, exports } = routes;
  const shared = { report, exports, sendTagged: createTaggedSender(report.store) };
  const sendReport = createReportSender(shared);
  const sendFindings = createFindingsSender(shared);
  const authorizeByToken: AuthorizeRequest = ({ headers }) => routes.authorize(headers.authorization);
  return (app, authorize = authorizeByToken) => {
    // or a record of the id 'search' would be looked for
    app.get(operations.searchSubscriptions.path, refuseMethod);
    app.register(async (scope) => {
      // before the body of a request is read
      scope.addHook('onRequest', async (request, reply) => {
        request.access = await authorize(request, reply);
        await limiter.count(request, reply);
      });
      // after its body has arrived
      scope.addHook('preHandler', (request, reply) => takeTurn(queue, accessOf(request).tenant, request, reply));
      addReportRoutes(scope, report, sendReport);
      addSummaryRoutes(scope, shared);
      addFindingsRoute(scope, sendFindings);
      addRecordRoutes(scope, shared); // after the names that would be ids of records
    });
  };
}
