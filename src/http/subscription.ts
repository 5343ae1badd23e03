import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/resource-server.ts';
import { operations } from '../contract/operations.ts';
import { getSubscription } from '../report/get-subscription.ts';
import { listSubscriptions } from '../report/list-subscriptions.ts';
import type { ReportContext } from '../report/report-context.ts';
import { RequestError } from './error.ts';
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

/** The report operations: `GET /v1/subscription` and `GET /v1/subscription/{id}`. */
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
    handler: async (request, reply) => {
      const { body, headers, timings } = await listSubscriptions(report, accessOf(request).tenant, queryOf(request));
      reply.headers(headers).header('server-timing', serverTiming(timings));
      return sendJson(reply, body);
    },
  });
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: routePath(operations.getSubscription.path),
    onRequest,
    handler: async (request, reply) =>
      sendJson(reply, await getSubscription(report, accessOf(request).tenant, request.params.id, queryOf(request))),
  });
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
