import type { ReportFormat } from '../contract/report-format.ts';
import { countMatching, streamRecords } from '../storage/read/records.ts';
import type { TenantId } from '../storage/store.ts';
import { inSpan } from '../tracing/span.ts';
import { describeFilters } from './applied-filters.ts';
import { planReport } from './plan.ts';
import type { ReportContext } from './report-context.ts';
import type { ReportQuery } from './report-query.ts';
import { appendRecords, describeFormat, openRecords } from './write-records.ts';

/** A whole report from one snapshot, read in pieces. */
export interface ReportExport {
  readonly format: Exclude<ReportFormat, 'json'>;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body of the report, each piece read from the store on demand. Throws `StorageError` if the
   * store fails.
   */
  readonly pieces: AsyncIterable<ExportPiece>;
  /** Closes the snapshot, whether the report was read to its end or not. */
  close(): Promise<void>;
}

/** Some records of a report, formatted. */
interface ExportPiece {
  readonly text: string;
  readonly rows: number;
}

/**
 * Records per piece, about 100 kB: few steps, and each blocks other requests for about a
 * millisecond.
 */
const pieceRows = 250;

/**
 * Reads a whole report (`all=true`) from one snapshot. The snapshot stays open however long the
 * client takes, but at most `pauseMsMax` between two pieces. The total in the headers is from the
 * same snapshot. Throws `StorageError` if the store fails.
 */
export async function exportSubscriptions(
  { store, limits }: ReportContext,
  tenant: TenantId,
  query: ReportQuery,
  pauseMsMax: number,
): Promise<ReportExport> {
  const { format } = query;
  if (format === 'json') throw new TypeError('Cannot stream a report as JSON: the parser must have refused it');
  const { filter, order } = inSpan('plan', () => planReport(query, limits.firstPage));
  const snapshot = await inSpan('open snapshot', () => store.openSnapshot(tenant, pauseMsMax));
  try {
    const total = await inSpan('count', () => countMatching(snapshot, filter));
    return {
      format,
      headers: {
        ...describeFormat(format),
        'x-total-count': String(total),
        'x-applied-filters': describeFilters(query),
      },
      pieces: writePieces(format, streamRecords(snapshot, filter, order, pieceRows)),
      close: () => snapshot.close(),
    };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

async function* writePieces(
  format: ReportExport['format'],
  batches: AsyncIterable<readonly string[]>,
): AsyncGenerator<ExportPiece> {
  yield { text: openRecords(format), rows: 0 };
  for await (const records of batches) yield { text: appendRecords(format, records), rows: records.length };
}
