import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/resource-server.ts';
import { operations } from '../contract/operations.ts';
import { getSubscription } from '../report/get-subscription.ts';
import { listSubscriptions } from '../report/list-subscriptions.ts';
import { parseNoParameters, parseReport } from '../report/parse.ts';
import { parseSearch } from '../report/parse-search.ts';
import type { ReportContext } from '../report/report-context.ts';
import type { ReportQuery } from '../report/report-query.ts';
import { RequestError } from './error.ts';
import { answerUnrouted } from './method-not-allowed.ts';
import { routePath } from './route-path.ts';

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
}

/** Largest body of a search, in bytes; the longest sensible one is a fourth of it. */
const searchBytesMax = 16_384;

/** The report operations: `GET /v1/subscription`, its search by `POST`, and `GET /v1/subscription/{id}`. */
export function addSubscriptionRoutes(app: FastifyInstance, { report, authorize }: SubscriptionRoutes): void {
  app.decorateRequest('access', null);
  const onRequest = [
    async (request: FastifyRequest) => {
      request.access = await authorize(request.headers.authorization);
    },
    ...(app.hasDecorator('rateLimit') ? [app.rateLimit()] : []),
    acceptJson,
  ];
  app.route({
    method: 'GET',
    url: routePath(operations.listSubscriptions.path),
    onRequest,
    handler: (request, reply) => sendReport(report, request, reply, () => parseReport(queryOf(request), report)),
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
        sendReport(report, request, reply, () => {
          parseNoParameters(queryOf(request), 'the parameters of a search are members of its body');
          return parseSearch(request.body instanceof Buffer ? request.body : Buffer.alloc(0), report);
        }),
    });
  });
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: routePath(operations.getSubscription.path),
    onRequest,
    handler: async (request, reply) =>
      sendJson(reply, await getSubscription(report, accessOf(request).tenant, request.params.id, queryOf(request))),
  });
}

/** Answers one page of the report that a request asks for. */
async function sendReport(
  report: ReportContext,
  request: FastifyRequest,
  reply: FastifyReply,
  parse: () => ReportQuery,
): Promise<FastifyReply> {
  const started = performance.now();
  const query = parse();
  const parsed = performance.now() - started;
  const { body, headers, timings } = await listSubscriptions(report, accessOf(request).tenant, query);
  reply.headers(headers).header('server-timing', serverTiming({ parse: parsed, ...timings }));
  return sendJson(reply, body);
}

/** A body that is JSON text already. */
function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply
    .headers({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-store',
      vary: 'Authorization',
    })
    .send(body);
}

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

const serverTiming = (timings: Readonly<Record<string, number>>): string =>
  Object.entries(timings)
    .map(([stage, ms]) => `${stage};dur=${ms.toFixed(3)}`)
    .join(', ');
