import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../auth/verify/resource-server.ts';
import { operations } from '../../contract/operations.ts';
import { formatWords, type ReportFormat, reportFormats } from '../../contract/report.ts';
import { getSubscription, getSubscriptionHistory } from '../../report/get-subscription.ts';
import { parseNoParameters, parseOne, parseReport } from '../../report/parse.ts';
import { changeFormats, parseChanges, parseChangesSummary } from '../../report/parse-changes.ts';
import { parseSearch } from '../../report/parse-search.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { createRevisionLookup } from '../../report/report-revision.ts';
import type { TenantId } from '../../storage/store.ts';
import { accessOf } from '../listener/access-log.ts';
import { RequestError } from '../listener/error.ts';
import type { FairQueue } from '../listener/fair-queue.ts';
import { acceptJsonBodies, queryOf, routePath } from '../listener/operation-routes.ts';
import type { RateLimiter } from '../listener/rate-limit.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import type { ExportLimits } from '../listener/slots.ts';
import { takeTurn } from '../listener/take-turn.ts';
import { handleUnrouted } from '../listener/unrouted.ts';
import {
  createCachedSender,
  createChangesSender,
  createChangesSummarySender,
  createFindingsSender,
  createReportSender,
  createSummarySender,
} from './send-report.ts';

export interface SubscriptionRoutes {
  readonly report: ReportContext;
  /** Checks the `Authorization` header for the scope of the report. */
  readonly authorize: (header: string | undefined) => Promise<Access>;
  readonly limiter: Pick<RateLimiter, 'count'>;
  readonly queue: FairQueue;
  /** Maximum size of the response cache in bytes; 0 disables it. */
  readonly pageCacheBytes: number;
  readonly exports: ExportLimits;
}

/** Largest body of a search in bytes; the longest sensible one is a fourth of it. */
const searchBytesMax = 16_384;

/** Returns the client of a request, or rejects. */
type AuthorizeRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<Access>;

/**
 * Adds the report operations to a scope, whose prefix precedes their paths. By default, the access
 * token of a request authorizes it.
 */
export type AddSubscriptionRoutes = (app: FastifyInstance, authorize?: AuthorizeRequest) => void;

/**
 * Makes the function that adds the report operations: `GET /v1/subscription`, its search by `POST`,
 * its summary, its findings, its changes and their summary, `GET /v1/subscription/{id}` and its
 * history. Wherever they are added, they share the caches and limits.
 */
export function createSubscriptionRoutes(routes: SubscriptionRoutes): AddSubscriptionRoutes {
  const { report, limiter, queue, exports, pageCacheBytes } = routes;
  const sendCached = createCachedSender(pageCacheBytes, createRevisionLookup(report.store));
  const sendReport = createReportSender({ report, exports, sendCached });
  const sendSummary = createSummarySender({ report, sendCached });
  const sendFindings = createFindingsSender({ report, exports, sendCached });
  const sendChanges = createChangesSender({ report, sendCached });
  const sendChangesSummary = createChangesSummarySender({ report, sendCached });
  // after the body has arrived
  const preHandler = (request: FastifyRequest, reply: FastifyReply) =>
    takeTurn(queue, accessOf(request).tenant, request, reply);
  const authorizeByToken: AuthorizeRequest = ({ headers }) => routes.authorize(headers.authorization);
  return (app, authorize = authorizeByToken) => {
    const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      request.access = await authorize(request, reply);
      await limiter.count(request, reply);
    };
    app.route({
      method: 'GET',
      url: routePath(operations.listSubscriptions.path),
      onRequest,
      preHandler,
      handler: (request, reply) =>
        sendReport(request, reply, () => parseReport(queryOf(request), report, acceptedFormat(request, formatWords))),
    });
    app.register(async (scope) => {
      acceptJsonBodies(scope);
      const { path } = operations.searchSubscriptions;
      scope.get(path, handleUnrouted); // or a record of the id 'search' would be looked for
      scope.route({
        method: 'POST',
        url: path,
        bodyLimit: searchBytesMax,
        onRequest,
        preHandler,
        handler: (request, reply) =>
          sendReport(request, reply, () => {
            parseNoParameters(queryOf(request), 'the parameters of a search must be members of its body');
            const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
            return parseSearch(body, report, acceptedFormat(request, formatWords));
          }),
      });
    });
    app.route({
      method: 'GET',
      url: routePath(operations.getSubscriptionSummary.path), // before a record of the id 'summary'
      onRequest: [onRequest, acceptJson],
      preHandler,
      handler: (request, reply) => sendSummary(request, reply, () => parseSummary(queryOf(request), report)),
    });
    app.route({
      method: 'GET',
      url: operations.getSubscriptionFindings.path,
      onRequest: [onRequest, acceptJson],
      preHandler,
      handler: async (request, reply) => {
        parseNoParameters(queryOf(request));
        return sendFindings(request, reply);
      },
    });
    app.route({
      method: 'GET',
      url: operations.listSubscriptionChanges.path,
      onRequest,
      preHandler,
      handler: (request, reply) =>
        sendChanges(request, reply, () =>
          parseChanges(queryOf(request), report, acceptedFormat(request, changeFormats)),
        ),
    });
    app.route({
      method: 'GET',
      url: operations.getChangesSummary.path,
      onRequest: [onRequest, acceptJson],
      preHandler,
      handler: (request, reply) =>
        sendChangesSummary(request, reply, () => parseChangesSummary(queryOf(request), report)),
    });
    addOneSubscription(app, { report, sendCached, onRequest: [onRequest, acceptJson], preHandler });
  };
}

/** What the operations on one subscription share. */
interface OneSubscription {
  readonly report: ReportContext;
  readonly sendCached: ReturnType<typeof createCachedSender>;
  readonly onRequest: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>)[];
  readonly preHandler: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** Adds `GET /v1/subscription/{id}` and its history. */
function addOneSubscription(
  app: FastifyInstance,
  { report, sendCached, onRequest, preHandler }: OneSubscription,
): void {
  const sendOne = (
    request: FastifyRequest,
    reply: FastifyReply,
    key: readonly unknown[],
    read: (context: ReportContext, tenant: TenantId) => ReturnType<typeof getSubscription>,
  ): Promise<FastifyReply> =>
    sendCached(request, reply, {
      key: JSON.stringify(key),
      load: async () => {
        const { record, revision } = await read(withinRequest(report, request), accessOf(request).tenant);
        return { body: record, headers: { 'content-type': reportFormats.json.contentType }, revision };
      },
    });
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: routePath(operations.getSubscriptionHistory.path),
    onRequest,
    preHandler,
    handler: async (request, reply) => {
      parseNoParameters(queryOf(request));
      const { id } = request.params;
      return sendOne(request, reply, ['history', id], (context, tenant) => getSubscriptionHistory(context, tenant, id));
    },
  });
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: routePath(operations.getSubscription.path),
    onRequest,
    preHandler,
    handler: async (request, reply) => {
      const { asOf } = parseOne(queryOf(request), report);
      const { id } = request.params;
      return sendOne(request, reply, ['record', id, asOf], (context, tenant) =>
        getSubscription(context, tenant, id, asOf),
      );
    },
  });
}

/** Returns the format that `Accept` prefers, or `undefined` if it allows none of them. */
function acceptedFormat<F extends ReportFormat>(request: FastifyRequest, words: readonly F[]): F | undefined {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || accept === reportFormats.json.mediaType) return words[0];
  // with their parameters, which a client may request
  const preferred = request.accepts().type(words.map((word) => reportFormats[word].contentType));
  return words.find((word) => reportFormats[word].contentType === preferred);
}

async function acceptJson(request: FastifyRequest): Promise<void> {
  if (request.accepts().type([reportFormats.json.contentType]) === false) {
    throw new RequestError(
      'UNACCEPTABLE',
      "Cannot respond in the requested format: the header 'accept' must allow application/json",
    );
  }
}
