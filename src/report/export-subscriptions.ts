import type { ReportFormat } from '../contract/report-format.ts';
import { countMatching, streamRecords } from '../storage/read/records.ts';
import type { TenantId } from '../storage/store.ts';
import { describeFilters } from './applied-filters.ts';
import { planReport } from './plan.ts';
import type { ReportContext } from './report-context.ts';
import type { ReportQuery } from './report-query.ts';
import { appendRecords, describeForm, openRecords } from './write-records.ts';

/** A whole report of one moment, to be read piece by piece. */
export interface ReportExport {
  readonly format: Exclude<ReportFormat, 'json'>;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The text of the report, each piece read from the store when it is asked for. Fails with
   * `StorageError` when the store does.
   */
  readonly pieces: AsyncIterable<ExportPiece>;
  /** Lets the moment go, whether all of it was read or not. */
  close(): Promise<void>;
}

/** Some records of a report as they go on the wire. */
interface ExportPiece {
  readonly text: string;
  readonly rows: number;
}

/**
 * Records of one piece, some 100 kB: large enough to share the cost of a step, small enough that
 * others wait for a millisecond only.
 */
const pieceRows = 250;

/**
 * Answers a query with `all`: the whole report as the store has it now, however long its reader
 * takes, at most `pauseMsMax` between two pieces. Its total, in the headers, is of the same moment.
 * Fails with `StorageError` when the store does.
 */
export async function exportSubscriptions(
  { store, limits }: ReportContext,
  tenant: TenantId,
  query: ReportQuery,
  pauseMsMax: number,
): Promise<ReportExport> {
  const { format } = query;
  if (format === 'json') throw new TypeError('Cannot stream a report as JSON: the parser must have refused it');
  const { filter, order } = planReport(query, limits.firstPage);
  const snapshot = await store.openSnapshot(tenant, pauseMsMax);
  try {
    const total = await countMatching(snapshot, filter);
    return {
      format,
      headers: {
        ...describeForm(format),
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
