import { operations } from '../contract/operations.ts';
import { reportFormats } from '../contract/report-format.ts';
import type { SubscriptionChange } from '../storage/read/changes.ts';
import type { ChangesQuery } from './changes-query.ts';
import type { FormattedReport } from './format.ts';

/** Changes, and the token of the position after them. */
interface ChangesToWrite {
  readonly changes: readonly SubscriptionChange[];
  readonly next: string;
  readonly hasMore: boolean;
}

/**
 * Formats changes: the stored JSON of records, tombstones, and the following token, as one JSON
 * object or, in NDJSON, on the last line. If there are more changes already, links lead to them.
 */
export function formatChanges(
  { format, size }: ChangesQuery,
  { changes, next, hasMore }: ChangesToWrite,
  reportUrl: string,
): FormattedReport {
  const texts = changes.map(({ id, record }) => record ?? JSON.stringify({ id, removed: true }));
  const end = `"next":${JSON.stringify(next)},"has_more":${hasMore}}`;
  const url = `${reportUrl}${belowReport}?since=${next}&size=${size}`;
  return {
    body: format === 'json' ? `{"changes":[${texts.join(',')}],${end}` : [...texts, `{${end}`, ''].join('\n'),
    headers: {
      'content-type': reportFormats[format].contentType,
      ...(hasMore && { 'x-next-page': url, link: `<${url}>; rel="next"` }),
    },
  };
}

/** Path of the changes, relative to the report. */
const belowReport = operations.listSubscriptionChanges.path.slice(operations.listSubscriptions.path.length);
