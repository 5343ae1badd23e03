import { exportSummaryPreference, reportPaths } from '../contract/report.ts';
import type { Api } from './api.ts';
import { ExportError } from './error.ts';
import { explanationIn, numberIn } from './list.ts';
import type { CallOptions } from './options.ts';
import { bodyOf, type ExportQuery, isForBody, type NotFound, notFoundIn } from './query.ts';
import type { Attempt } from './sender.ts';
import { ExportCheck } from './verify-export.ts';

/** Options of an export. */
export interface ExportOptions extends CallOptions {
  readonly format: 'csv' | 'ndjson' | 'parquet';
  /**
   * Whether the stream fails at its end if the number of records or their SHA-256 differ from those
   * that the service sent; true by default. If false, NDJSON ends with the summary line.
   */
  readonly verify?: boolean | undefined;
}

/** Derived from `Response`: TypeScript before 5.7 cannot parse `Uint8Array<ArrayBuffer>`. */
type ByteStream = NonNullable<Response['body']>;

/** The bytes of a report. */
export interface SubscriptionExport extends ByteStream {
  /** Number of records, from the same snapshot as the export; `NaN` if a proxy has removed it. */
  readonly totalCount: number;
  /** Why no record matches: none has a status, product or plan of the filters. */
  readonly explanation: string | undefined;
  /** The values of the query's lists that no record has, whatever its other filters. */
  readonly notFound: NotFound;
  readonly headers: Headers;
  readonly correlationId: string;
}

/** Requests the whole report in one response. */
export function exportSubscriptions(api: Api, query: ExportQuery, options: ExportOptions): Promise<SubscriptionExport> {
  const { format, verify = true } = options;
  const wanted = { ...query, all: true, format };
  return api.send(
    {
      ...(isForBody(query)
        ? { path: reportPaths.searchSubscriptions, body: bodyOf(wanted) }
        : { path: reportPaths.listSubscriptions, query: wanted }),
      headers: verify ? { prefer: exportSummaryPreference } : {},
      read: async (response, attempt) => openExport(response, attempt, verify ? format : undefined, query),
    },
    options,
  );
}

function openExport(
  response: Response,
  attempt: Attempt,
  verified: ExportOptions['format'] | undefined,
  query: ExportQuery,
): SubscriptionExport {
  const { headers } = response;
  if (verified !== undefined && headers.get('preference-applied') !== exportSummaryPreference) {
    const message = `Cannot verify the export: it must have the header Preference-Applied: ${exportSummaryPreference}`;
    throw new ExportError('UNVERIFIABLE', message, attempt);
  }
  const totalCount = numberIn(headers, 'x-total-count');
  const check = verified && new ExportCheck(verified, totalCount, attempt);
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  const { deadline, correlationId } = attempt;
  const accept = (part: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
    try {
      return check === undefined ? part : check.next(part);
    } catch (error) {
      reader.cancel(error).catch(() => undefined); // the check's error is the one to report
      throw error;
    }
  };
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      // the time limit applies while waiting for the service, not for the consumer
      const { done, value } = await deadline.guard(() => reader.read());
      if (!done) return controller.enqueue(accept(value));
      const last = check?.end();
      if (last !== undefined && last.length > 0) controller.enqueue(last);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return Object.assign(stream, {
    totalCount,
    explanation: explanationIn(headers),
    notFound: notFoundIn(headers, query),
    headers,
    correlationId,
  });
}
