import { createHash } from 'node:crypto';
import { finished, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type ExportSummary,
  exportSummaryPreference,
  exportTrailers,
  writeSummaryLine,
} from '../../../contract/report.ts';
import { exportSubscriptions, type ReportExport } from '../../report/export-subscriptions.ts';
import type { ReportContext, ReportQuery } from '../../report/report-query.ts';
import { accessOf } from '../listener/access-log.ts';
import { RequestError } from '../listener/error.ts';
import { liftDeadline, whileConnected } from '../listener/request-deadline.ts';
import { createSlots, type ExportLimits } from '../listener/slots.ts';
import { fitHeaders } from './send-tagged.ts';

/** A protocol version in `Via` that says that a proxy received the request over HTTP/1.0. */
const receivedOverHttp10 = /(?:^|,)\s*(?:http\/)?1\.0\s/i;

/** A comment of a header, which may say anything (RFC 9110 §5.6.5). */
const comments = /\((?:[^()\\]|\\.)*\)/g;

/**
 * Rejects a whole report that could be cut off unnoticed. A streamed response over HTTP/1.0 ends
 * with its connection (RFC 9112 §6.3), and a proxy that receives it passes a part on as a complete
 * response. The summary line proves that a report is complete over any version.
 */
function requireVisibleEnd(request: FastifyRequest, { format }: Pick<ReportQuery, 'format'>): void {
  const { httpVersion, headers } = request.raw;
  if (format === 'ndjson' || prefersSummary(request)) return;
  if (httpVersion !== '1.0' && !receivedOverHttp10.test((headers.via ?? '').replaceAll(comments, ''))) return;
  throw new RequestError(
    'UNACCEPTABLE',
    `Cannot send a whole report as ${format} over HTTP/1.0: a response that breaks off must not look complete; request format=ndjson, which ends with the number of records, or HTTP/1.1: if nginx is in front of the service, the operator must set 'proxy_http_version 1.1'`,
  );
}

/** Makes the function that sends a whole report, in a slot of its client and tenant. */
export function createExportSender(report: ReportContext, limits: ExportLimits) {
  const isHanging = (tenant: string): boolean => report.store.isHanging?.(tenant) === true;
  const takeSlot = createSlots({ ...limits, isHanging }, 'export', ', or read the report page by page');
  return async (request: FastifyRequest, reply: FastifyReply, query: ReportQuery): Promise<FastifyReply> => {
    requireVisibleEnd(request, query);
    const { clientId, tenant } = accessOf(request);
    const release = takeSlot(clientId, tenant);
    try {
      const whole = await exportSubscriptions(whileConnected(report, request), tenant, query, limits.stallMs);
      liftDeadline(request); // `limits` bounds it from here on
      reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization, Accept', ...whole.headers });
      fitHeaders(reply);
      if (request.method !== 'HEAD') return sendExport(request, reply, { report: whole, limits, onEnd: release });
      await whole.close();
      release();
      // a stream has no length, like the response to GET
      return reply.send(Readable.from([]));
    } catch (error) {
      release();
      throw error;
    }
  };
}

interface ExportSending {
  readonly report: ReportExport;
  readonly limits: ExportLimits;
  /** Called once, however the export ends. */
  readonly onEnd: () => void;
}

/**
 * Streams a whole report as fast as its client reads it. At the end, the trailers state the number
 * of records and their SHA-256, and so does the last line of NDJSON, and of CSV on request. If the
 * export fails or is aborted, the connection is destroyed, so that the client cannot mistake a part
 * for the whole report.
 */
function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  { report, limits, onEnd }: ExportSending,
): FastifyReply {
  const isSummaryPreferred = prefersSummary(request);
  const progress = { rows: 0, bytes: 0, summary: undefined as ExportSummary | undefined };
  const stream = readOneByOne(pieces());
  // Fastify logs it only with its log of requests: a full disk, for example
  stream.on('error', (error) => request.log.warn({ err: error }, 'an export failed'));
  // Destroys the response rather than the stream, which would wait for a store that never responds.
  const cut = (rule: string): void => {
    request.log.warn(`Cannot continue an export: ${rule}`);
    reply.raw.destroy();
  };
  const cutAfter = (ms: number, rule: string): NodeJS.Timeout => setTimeout(() => cut(`${rule} within ${ms} ms`), ms);
  const isTooSlow = createRateCheck(limits);
  const stall = cutAfter(limits.stallMs, 'the client must read the next chunk');
  const duration = cutAfter(limits.durationMs, 'it must finish');
  finished(reply.raw, () => {
    clearTimeout(stall);
    clearTimeout(duration);
    const { rows, bytes, summary } = progress;
    request.log.info({ rows, bytes, complete: summary !== undefined }, 'export');
    void letGo();
  });

  let ended: Promise<void> | undefined;
  const letGo = (): Promise<void> => {
    ended ??= report
      .close()
      .catch((error: unknown) => request.log.warn({ err: error }, 'an export failed'))
      .finally(onEnd);
    return ended;
  };

  async function* pieces(): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for await (const { rows, bytes } of report.pieces) {
      hash.update(bytes);
      progress.rows += rows;
      progress.bytes += bytes.length;
      stall.refresh();
      const yielded = performance.now();
      // the memory of a larger piece is sent before the next one is requested
      yield bytes.length < reply.raw.writableHighWaterMark ? Buffer.from(bytes) : bytes;
      stall.refresh();
      if (isTooSlow(bytes.length, performance.now() - yielded))
        return cut(`the client must read ${limits.rateMin} bytes per second`);
      // lets other requests run; pieces that are ready would be sent without a pause between them
      await nextTurn();
    }
    await letGo(); // before the end is sent: a client that has read it may start another export
    const summary = { rows: progress.rows, sha256: hash.digest('hex') };
    progress.summary = summary;
    reply.raw.addTrailers({ [exportTrailers.rows]: String(summary.rows), [exportTrailers.sha256]: summary.sha256 });
    if (report.format === 'ndjson' || isSummaryPreferred) yield Buffer.from(writeSummaryLine(summary));
  }

  if (isSummaryPreferred) reply.header('preference-applied', exportSummaryPreference);
  // Fastify would write the names in this header without commas (RFC 9110 §6.6.2 requires a list).
  // HTTP/1.0 has no trailers.
  if (request.raw.httpVersion === '1.1') reply.header('trailer', Object.values(exportTrailers).join(', '));
  return reply.send(stream);
}

/**
 * A stream that requests a piece only when none waits in it: by then, the socket has sent the
 * pieces before it, except small ones, which it may still hold. `Readable.from` requests one piece
 * in advance.
 */
function readOneByOne(pieces: AsyncGenerator<Buffer>): Readable {
  return new Readable({
    highWaterMark: 0,
    read() {
      pieces.next().then(
        ({ value, done }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      pieces.return(undefined).catch(() => undefined);
      callback(error);
    },
  });
}

/** Whether the client prefers the summary in the body (RFC 7240 §2); others are ignored. */
function prefersSummary({ headers: { prefer = '' } }: FastifyRequest): boolean {
  const preferences = String(prefer).split(',');
  return preferences.some((preference) => preference.trim().toLowerCase() === exportSummaryPreference);
}

/**
 * Makes the function that is called with each piece and how long the client took to request the
 * next one, and returns whether it was too slow since it had last taken `stallMs` in total.
 */
function createRateCheck({ rateMin, stallMs }: ExportLimits): (bytes: number, readerMs: number) => boolean {
  const taken = { bytes: 0, ms: 0 };
  return (bytes, readerMs) => {
    taken.bytes += bytes;
    taken.ms += readerMs;
    if (taken.ms <= stallMs) return false;
    const isTooSlow = taken.bytes < (rateMin * taken.ms) / 1000;
    Object.assign(taken, { bytes: 0, ms: 0 });
    return isTooSlow;
  };
}
