import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/resource-server.ts';
import { operations } from '../contract/operations.ts';
import { getSubscription } from '../report/get-subscription.ts';
import { listSubscriptions, pageKey } from '../report/list-subscriptions.ts';
import { parseNoParameters, parseReport } from '../report/parse.ts';
import { parseSearch } from '../report/parse-search.ts';
import type { ReportContext } from '../report/report-context.ts';
import type { ReportQuery } from '../report/report-query.ts';
import { createRevisionLookup } from '../report/report-revision.ts';
import { RequestError } from './error.ts';
import { answerUnrouted } from './method-not-allowed.ts';
import { routePath } from './route-path.ts';
import { createCachedSender } from './send-cached.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; set on every route that needs a token. */
    access: Access | null;
  }
}

/** What the report's routes need. */
export interface SubscriptionRoutes {
  readonly report: ReportContext;
  /** Checks the `Authorization` header for the scope of the report. */
  readonly authorize: (header: string | undefined) => Promise<Access>;
  /** Requests a minute and client; 0 is no limit. */
  readonly rateLimitPerMinute: number;
  /** Most bytes of finished answers that are kept in memory; 0 keeps none. */
  readonly pageCacheBytes: number;
}

/** Largest body of a search, in bytes; the longest sensible one is a fourth of it. */
const searchBytesMax = 16_384;

/** The report operations: `GET /v1/subscription`, its search by `POST`, and `GET /v1/subscription/{id}`. */
export function addSubscriptionRoutes(app: FastifyInstance, routes: SubscriptionRoutes): void {
  const { report, authorize, pageCacheBytes } = routes;
  const sendCached = createCachedSender(pageCacheBytes);
  const revisionOf = createRevisionLookup(report.store);
  app.decorateRequest('access', null);
  const onRequest = [
    async (request: FastifyRequest) => {
      request.access = await authorize(request.headers.authorization);
    },
    ...(app.hasDecorator('rateLimit') ? [app.rateLimit()] : []),
    acceptJson,
  ];
  /** Answers one page of the report that a request asks for. */
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, parse: () => ReportQuery) => {
    const started = performance.now();
    const query = parse();
    const parsed = performance.now() - started;
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: [tenant, ...pageKey(report, query)],
      revision: () => revisionOf(tenant),
      load: async () => {
        const { timings, headers, ...page } = await listSubscriptions(report, tenant, query);
        return { ...page, headers: { ...headers, ...json }, timings: { parse: parsed, ...timings } };
      },
    });
  };
  app.route({
    method: 'GET',
    url: routePath(operations.listSubscriptions.path),
    onRequest,
    handler: (request, reply) => sendPage(request, reply, () => parseReport(queryOf(request), report)),
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer', bodyLimit: searchBytesMax },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    const { path } = operations.searchSubscriptions;
    scope.get(path, answerUnrouted); // or a record of the id 'search' would be looked for
    scope.route({
      method: 'POST',
      url: path,
      onRequest,
      handler: (request, reply) =>
        sendPage(request, reply, () => {
          parseNoParameters(queryOf(request), 'the parameters of a search are members of its body');
          return parseSearch(request.body instanceof Buffer ? request.body : Buffer.alloc(0), report);
        }),
    });
  });
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: routePath(operations.getSubscription.path),
    onRequest,
    handler: async (request, reply) => {
      parseNoParameters(queryOf(request));
      const { tenant } = accessOf(request);
      const { id } = request.params;
      return sendCached(request, reply, {
        key: [tenant, 'record', id],
        revision: () => revisionOf(tenant),
        load: async () => {
          const { record, revision } = await getSubscription(report, tenant, id);
          return { body: record, headers: json, revision };
        },
      });
    },
  });
}

const json = { 'content-type': 'application/json; charset=utf-8' };

async function acceptJson(request: FastifyRequest): Promise<void> {
  if (request.accepts().type(['application/json']) === false) {
    throw new RequestError(
      'UNACCEPTABLE',
      "Cannot answer in this form: the header 'accept' must allow application/json",
    );
  }
}

function accessOf(request: FastifyRequest): Access {
  if (request.access === null) throw new TypeError('Cannot serve a report: the route must authorize first');
  return request.access;
}

/** The query string as it arrived, without `?`; reading it is the report's work. */
function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
