import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { formatWords, type ReportFormat, reportFormats } from '../../../contract/report.ts';
import { createPageKey, listSubscriptions } from '../../report/list-subscriptions.ts';
import { parseNoParameters, parseReport } from '../../report/parse.ts';
import { parseSearch } from '../../report/parse-search.ts';
import type { ReportContext, ReportQuery } from '../../report/report-query.ts';
import { createStages } from '../../report/stages.ts';
import { accessOf } from '../listener/access-log.ts';
import { RequestError } from '../listener/error.ts';
import { acceptBodies, queryOf } from '../listener/operation-routes.ts';
import { preferredType } from '../listener/preferred-type.ts';
import { whileConnected } from '../listener/request-deadline.ts';
import type { ExportLimits } from '../listener/slots.ts';
import { createExportSender } from './send-export.ts';
import type { TaggedSender } from './send-tagged.ts';

/** What the report operations share: limits and entity tags. */
export interface SharedParts {
  readonly report: ReportContext;
  readonly exports: ExportLimits;
  readonly sendTagged: TaggedSender;
}

/** Sends a report for the query that `parse` returns. */
type SendReport = (request: FastifyRequest, reply: FastifyReply, parse: () => ReportQuery) => Promise<FastifyReply>;

/** Makes the function that sends one page, or with `all=true` the whole report. */
export function createReportSender({ report, exports, sendTagged }: SharedParts): SendReport {
  const keyOf = createPageKey(report);
  const sendWhole = createExportSender(report, exports);
  return async (request, reply, parse) => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    if (query.all) return sendWhole(request, reply, query);
    const { tenant } = accessOf(request);
    return sendTagged(request, reply, {
      key: keyOf(query),
      load: () => listSubscriptions(whileConnected(report, request), tenant, query, stages),
    });
  };
}

/** Largest body of a search in bytes: a list of the longest ids fits. */
const searchBytesMax = 262_144;

/** Adds `GET /v1/subscription` and its search by `POST`. */
export function addReportRoutes(app: FastifyInstance, report: ReportContext, sendReport: SendReport): void {
  app.get(operations.listSubscriptions.path, (request, reply) =>
    sendReport(request, reply, () => parseReport(queryOf(request), report, acceptedFormat(request, formatWords))),
  );
  app.register(async (scope) => {
    acceptBodies(scope);
    scope.post(operations.searchSubscriptions.path, { bodyLimit: searchBytesMax }, (request, reply) =>
      sendReport(request, reply, () => {
        parseNoParameters(queryOf(request), 'left out: the parameters of a search must be members of its body');
        const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
        return parseSearch(body, report, acceptedFormat(request, formatWords));
      }),
    );
  });
}

/** Returns the format that `Accept` prefers, or `undefined` if it allows none of them. */
export function acceptedFormat<F extends ReportFormat>(request: FastifyRequest, words: readonly F[]): F | undefined {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || accept === reportFormats.json.mediaType) return words[0];
  // with their parameters, which a client may request
  const preferred = preferredType(
    request,
    words.map((word) => reportFormats[word].contentType),
  );
  return words.find((word) => reportFormats[word].contentType === preferred);
}

/** Rejects a request whose `Accept` does not allow JSON. */
export async function acceptJson(request: FastifyRequest): Promise<void> {
  if (preferredType(request, [reportFormats.json.contentType]) === undefined) {
    throw new RequestError(
      'UNACCEPTABLE',
      "Cannot respond in the requested format: the header 'accept' must allow application/json",
    );
  }
}
