import type { ExportQuery, Subscription, SubscriptionExport, SubscriptionPage } from '../../../client/index.ts';
import type { CallOptions } from '../../../client/options.ts';
import { reports } from '../api.ts';

/**
 * Reads the first records of a report of the past, which has no pages: an export is read as far as
 * these records, and then closed.
 */
export async function readPastPage(query: ExportQuery, size: number, options: CallOptions): Promise<SubscriptionPage> {
  const report = await reports.export(query, { ...options, format: 'ndjson' });
  const { totalCount, explanation, notFound, headers, correlationId } = report;
  return {
    records: await firstRecords(report, size),
    totalCount,
    explanation,
    notFound,
    headers,
    correlationId,
    totalPages: 1,
    currentPage: 1,
    nextCursor: undefined,
    previousCursor: undefined,
  };
}

async function firstRecords(report: SubscriptionExport, size: number): Promise<readonly Subscription[]> {
  const reader = (report as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const lines: string[] = [];
  let rest = '';
  while (lines.length < size) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  }
  await reader.cancel();
  return lines.slice(0, size).map((line) => JSON.parse(line) as Subscription);
}
