import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { exportSubscriptions } from '../../report/export-subscriptions.ts';
import { changesSummaryKey, getChangesSummary } from '../../report/get-changes-summary.ts';
import { findingsMoment, getSubscriptionFindings } from '../../report/get-subscription-findings.ts';
import type { SummaryQuery } from '../../report/get-subscription-summary.ts';
import { getSubscriptionSummary, summaryKey } from '../../report/get-subscription-summary.ts';
import { changesKey, listChanges } from '../../report/list-changes.ts';
import { createPageKey, listSubscriptions } from '../../report/list-subscriptions.ts';
import type { ChangesQuery, ChangesSummaryQuery } from '../../report/parse-changes.ts';
import type { ReportContext, ReportQuery } from '../../report/report-query.ts';
import { createStages, type Timings } from '../../report/stage-timer.ts';
import type { TenantId } from '../../storage/store.ts';
import { inSpan } from '../../tracing/span.ts';
import { accessOf } from '../listener/access-log.ts';
import { type ContentCoding, compress, compressBytesMin, preferredCoding } from '../listener/content-encoding.ts';
import { FairQueue } from '../listener/fair-queue.ts';
import { liftDeadline, withinRequest } from '../listener/request-deadline.ts';
import { createSlots, type ExportLimits } from '../listener/slots.ts';
import { takeTurn } from '../listener/take-turn.ts';
import { type CachedPage, codedTag, createPageCache, entityTag, matchesAny, matchesTag } from './page-cache.ts';
import { requireVisibleEnd, sendExport } from './send-export.ts';

interface ReportSending {
  readonly report: ReportContext;
  readonly exports: ExportLimits;
  readonly sendCached: CachedSender;
}

/**
 * Makes the function that sends a page of a report, or all of it, for the query that `parse`
 * returns.
 */
export function createReportSender({ report, exports, sendCached }: ReportSending) {
  const keyOf = createPageKey(report);
  const takeSlot = createSlots(exports, 'export', ', or read the report page by page');

  const sendAll = async (request: FastifyRequest, reply: FastifyReply, query: ReportQuery) => {
    requireVisibleEnd(request, query);
    const { clientId, tenant } = accessOf(request);
    const release = takeSlot(clientId, tenant);
    try {
      const whole = await exportSubscriptions(withinRequest(report, request), tenant, query, exports.stallMs);
      liftDeadline(request); // `exports` bounds it from here on
      reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization, Accept', ...whole.headers });
      if (request.method !== 'HEAD')
        return sendExport(request, reply, { report: whole, limits: exports, onEnd: release });
      await whole.close();
      release();
      // a stream has no length, like the response to GET
      return reply.send(Readable.from([]));
    } catch (error) {
      release();
      throw error;
    }
  };

  return async (request: FastifyRequest, reply: FastifyReply, parse: () => ReportQuery) => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    if (query.all) return sendAll(request, reply, query);
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: keyOf(query),
      load: () => listSubscriptions(withinRequest(report, request), tenant, query, stages),
    });
  };
}

/** Makes the function that sends a summary for the query that `parse` returns. */
export function createSummarySender({ report, sendCached }: Omit<ReportSending, 'exports'>) {
  return (request: FastifyRequest, reply: FastifyReply, parse: () => SummaryQuery) => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: summaryKey(query),
      load: () => getSubscriptionSummary(withinRequest(report, request).store, tenant, query, stages),
    });
  };
}

/**
 * Time limit of the findings in milliseconds, and of the wait for their turn: a million records
 * take some seconds.
 */
const findingsMsMax = 60_000;

/** Tenants whose findings are being read or wait. */
const findingsMax = 100;

/**
 * Makes the function that sends the findings. They are kept by revision and hour. Two tenants at a
 * time read them, so that most reader threads stay free; others wait in turn, each with one
 * request.
 */
export function createFindingsSender({ report, exports, sendCached }: ReportSending) {
  const takeSlot = createSlots({ max: findingsMax, perClientMax: 1, perTenantMax: 1 }, 'scan');
  const queue = new FairQueue({
    runningMax: 2,
    waitingMax: findingsMax,
    waitMsMax: findingsMsMax,
    startsPerTurn: 1,
  });
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { clientId, tenant } = accessOf(request);
    const moment = findingsMoment(report.now());
    return sendCached(request, reply, {
      key: JSON.stringify(['findings', moment]),
      load: async () => {
        const release = takeSlot(clientId, tenant);
        try {
          liftDeadline(request); // the queue's and the store's bound it from here on
          request.endTurn?.(); // no other request waits while this one does
          await takeTurn(queue, tenant, request, reply);
          const store = report.store.within(performance.now() + findingsMsMax);
          return await getSubscriptionFindings({ store }, tenant, moment, exports.stallMs);
        } finally {
          release();
        }
      },
    });
  };
}

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

/** Makes the function that sends the summary of changes for the query that `parse` returns. */
export function createChangesSummarySender({ report, sendCached }: Omit<ReportSending, 'exports'>) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    parse: () => ChangesSummaryQuery,
  ): Promise<FastifyReply> => {
    const stages = createStages();
    const query = stages.run('parse', parse);
    const { tenant } = accessOf(request);
    return sendCached(request, reply, {
      key: changesSummaryKey(query),
      load: () => getChangesSummary(withinRequest(report, request), tenant, query, stages),
    });
  };
}

/** A response as the report returns it. */
interface RevisionedResponse {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision in the snapshot that it shows. */
  readonly revision: number;
  readonly timings?: Timings;
}

/** A response that may already be cached. */
interface CacheableResponse {
  /** Everything that the response depends on, except the tenant and its revision. */
  readonly key: string;
  /** Reads and formats the response. */
  readonly load: () => Promise<RevisionedResponse>;
}

type CachedSender = (
  request: FastifyRequest,
  reply: FastifyReply,
  response: CacheableResponse,
) => Promise<FastifyReply>;

/** Responses are private and must be revalidated each time (RFC 9111 §5.2.2.4). */
const cacheControl = 'private, no-cache';
const vary = 'Authorization, Accept, Accept-Encoding';

/**
 * Makes the function that sends a response with a strong entity tag of its revision (RFC 9110
 * §8.8.3): 304 without reading anything if the client has it, from the cache if the tenant has not
 * changed, compressed if the client accepts that. The cache holds at most `cacheBytes`, each coding
 * separately. `revisionOf` returns a tenant's current revision.
 */
export function createCachedSender(
  cacheBytes: number,
  revisionOf: (tenant: TenantId) => Promise<number>,
): CachedSender {
  const cache = createPageCache(cacheBytes);

  function finish(key: string, { body, headers, revision }: RevisionedResponse): CachedPage {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const page = { body: bytes, headers: { ...headers, etag: entityTag(revision, key) }, revision };
    cache.set(key, page);
    return page;
  }

  async function inCoding(key: string, page: CachedPage, coding: ContentCoding | undefined): Promise<CachedPage> {
    if (coding === undefined || page.body.length < compressBytesMin) return page;
    const known = cache.get(codedKey(key, coding));
    if (known !== undefined && known.revision === page.revision) return known;
    const headers = {
      ...page.headers,
      etag: codedTag(page.headers.etag ?? '', coding),
      'content-encoding': coding,
    };
    const coded = {
      body: await inSpan('compress', () => compress(coding, page.body)),
      headers,
      revision: page.revision,
    };
    cache.set(codedKey(key, coding), coded);
    return coded;
  }

  return async (request, reply, response) => {
    const { tenant } = accessOf(request);
    const key = `${tenant} ${response.key}`; // no space in a tenant's name (`tenantName`)
    const ifNoneMatch = request.method === 'POST' ? undefined : request.headers['if-none-match'];
    reply.headers({ 'cache-control': cacheControl, vary });
    const notModified = (etag: string): FastifyReply => {
      // the client has this response already (RFC 9110 §15.4.5)
      return reply.code(304).header('etag', etag).send();
    };
    let timings: Timings = [];
    let page = cache.get(key);
    if (page !== undefined || ifNoneMatch !== undefined) {
      const stages = createStages();
      const revision = await stages.run('cache', () => revisionOf(tenant));
      timings = stages.timings;
      if (page?.revision !== revision) page = undefined;
      const tag = page?.headers.etag ?? entityTag(revision, key);
      if (matchesTag(ifNoneMatch, tag)) return notModified(tag);
    }
    if (page === undefined) {
      const loaded = await response.load();
      timings = loaded.timings ?? [];
      page = finish(key, loaded);
    }
    const { etag = '' } = page.headers;
    if (matchesAny(ifNoneMatch) || matchesTag(ifNoneMatch, etag)) return notModified(etag);
    const { headers, body } = await inCoding(key, page, preferredCoding(request.headers['accept-encoding']));
    return reply.headers(headers).header('server-timing', serverTiming(timings)).send(body);
  };
}

const codedKey = (key: string, coding: ContentCoding | undefined): string => `${key} ${coding}`;

const serverTiming = (timings: Timings): string =>
  timings.map(([stage, ms]) => `${stage};dur=${Math.round(ms * 1000) / 1000}`).join(', ');
