import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/authorize.ts';
import { operations } from '../contract/operations.ts';
import { formatWords, type ReportFormat, reportFormats } from '../contract/report-format.ts';
import { exportSubscriptions } from '../report/export-subscriptions.ts';
import { getSubscription } from '../report/get-subscription.ts';
import { listSubscriptions } from '../report/list-subscriptions.ts';
import { parseNoParameters, parseReport } from '../report/parse.ts';
import { parseSearch } from '../report/parse-search.ts';
import type { ReportContext } from '../report/report-context.ts';
import type { ReportQuery } from '../report/report-query.ts';
import { RequestError } from './error.ts';
import { createExportSlots, type ExportLimits } from './export-slots.ts';
import { answerUnrouted } from './method-not-allowed.ts';
import { routePath } from './route-path.ts';
import { sendExport } from './send-export.ts';

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
  readonly exports: ExportLimits;
}

/** Largest body of a search, in bytes; the longest sensible one is a fourth of it. */
const searchBytesMax = 16_384;

/** The report operations: `GET /v1/subscription`, its search by `POST`, and `GET /v1/subscription/{id}`. */
export function addSubscriptionRoutes(app: FastifyInstance, routes: SubscriptionRoutes): void {
  const { report, authorize, exports } = routes;
  app.decorateRequest('access', null);
  const onRequest = [
    async (request: FastifyRequest) => {
      request.access = await authorize(request.headers.authorization);
    },
    ...(app.hasDecorator('rateLimit') ? [app.rateLimit()] : []),
  ];
  const sendReport = reportSender(report, exports);
  app.route({
    method: 'GET',
    url: routePath(operations.listSubscriptions.path),
    onRequest,
    handler: (request, reply) =>
      sendReport(request, reply, () => parseReport(queryOf(request), report, acceptedFormat(request))),
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
        sendReport(request, reply, () => {
          parseNoParameters(queryOf(request), 'the parameters of a search are members of its body');
          const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
          return parseSearch(body, report, acceptedFormat(request));
        }),
    });
  });
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: routePath(operations.getSubscription.path),
    onRequest: [...onRequest, acceptJson],
    handler: async (request, reply) => {
      const record = await getSubscription(report, accessOf(request).tenant, request.params.id, queryOf(request));
      reply.headers({ ...freshForOne, 'content-type': reportFormats.json.contentType, vary: 'Authorization' });
      return reply.send(record);
    },
  });
}

/** Every answer is fresh, and for its client alone. */
const freshForOne = { 'cache-control': 'private, no-store' };

/** Gives the function that answers one page of a report, or all of it, for the query that `parse` reads. */
function reportSender(report: ReportContext, exports: ExportLimits) {
  const takeSlot = createExportSlots(exports);

  async function sendPage(request: FastifyRequest, reply: FastifyReply, query: ReportQuery, parseMs: number) {
    const { body, headers, timings } = await listSubscriptions(report, accessOf(request).tenant, query);
    return reply.headers({ ...headers, 'server-timing': serverTiming({ parse: parseMs, ...timings }) }).send(body);
  }

  async function sendAll(request: FastifyRequest, reply: FastifyReply, query: ReportQuery) {
    const { clientId, tenant } = accessOf(request);
    const release = takeSlot(clientId);
    try {
      const whole = await exportSubscriptions(report, tenant, query, exports.stallMs);
      reply.headers(whole.headers);
      if (request.method !== 'HEAD') return sendExport(request, reply, whole, exports, release);
      await whole.close();
      release();
      return reply.send(Readable.from([])); // a stream has no length to tell, like the one that GET gives
    } catch (error) {
      release();
      throw error;
    }
  }

  return async (request: FastifyRequest, reply: FastifyReply, parse: () => ReportQuery): Promise<FastifyReply> => {
    const started = performance.now();
    const query = parse();
    const parseMs = performance.now() - started;
    reply.headers({ ...freshForOne, vary: 'Authorization, Accept' });
    return query.all ? sendAll(request, reply, query) : sendPage(request, reply, query, parseMs);
  };
}

/** The form of a report that the header `Accept` prefers, or `undefined` when it allows none. */
function acceptedFormat(request: FastifyRequest): ReportFormat | undefined {
  const preferred = request.accepts().type(formatWords.map((word) => reportFormats[word].mediaType));
  return formatWords.find((word) => reportFormats[word].mediaType === preferred);
}

async function acceptJson(request: FastifyRequest): Promise<void> {
  if (request.accepts().type([reportFormats.json.mediaType]) === false) {
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
