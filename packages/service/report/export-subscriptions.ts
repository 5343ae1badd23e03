import type { ReportFormat } from '../../contract/report.ts';
import { writeParquet } from '../parquet/write-parquet.ts';
import { countErased, countPast, streamPast } from '../storage/read/past.ts';
import type { LineBatch, TenantId } from '../storage/store.ts';
import { csvHeader } from './csv-lines.ts';
import { explainNothing } from './explain-nothing.ts';
import { describeFilters, listsOf } from './filters.ts';
import { describeRevision, requireRevision, settle } from './moment.ts';
import { planReport } from './plan.ts';
import type { ReportContext, ReportQuery } from './report-query.ts';
import { findNotFound } from './run.ts';
import { createLineWriter, type Shown } from './select-fields.ts';
import { describeExplanation, describeFormat, describeNotFound } from './write-records.ts';

/** A whole report from one snapshot, read in pieces. */
export interface ReportExport {
  readonly format: Exclude<ReportFormat, 'json'>;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body of the report, each piece read from the store on demand, and valid until the next one
   * is requested. Throws `StorageError` if the store fails.
   */
  readonly pieces: AsyncIterable<ExportPiece>;
  /** Closes the snapshot, whether the report was read to its end or not. */
  close(): Promise<void>;
}

/** Some records of a report, formatted. */
interface ExportPiece {
  readonly rows: number;
  readonly bytes: Buffer;
}

/**
 * Records per piece, about 180 kB of JSON: a step costs about as much as 100 records, and to format
 * a piece blocks other requests for about a millisecond.
 */
const pieceRows = 500;

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
  const { filter, order } = planReport(query, limits.firstPage);
  const moment = await settle(store, tenant, query.asOf, query);
  const snapshot = await store.openSnapshot(tenant, pauseMsMax);
  try {
    const at = await requireRevision(snapshot, moment);
    const total = await countPast(snapshot, filter, at);
    const erased = await countErased(snapshot, at);
    const lists = listsOf(query);
    const notFound = lists.length === 0 ? undefined : await findNotFound(snapshot, lists, at);
    const explanation = total === 0 ? await explainNothing(snapshot, query, at) : undefined;
    return {
      format,
      headers: {
        ...describeFormat(format),
        'x-total-count': String(total),
        'x-applied-filters': describeFilters(query, query.canonical),
        ...describeExplanation(explanation),
        ...describeNotFound(notFound),
        ...describeRevision(at, erased),
      },
      pieces: writePieces(query, streamPast(snapshot, filter, order, at, pieceRows)),
      close: () => snapshot.close(),
    };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

async function* writePieces(shown: Shown, batches: AsyncIterable<LineBatch>): AsyncGenerator<ExportPiece> {
  const { format, fields } = shown;
  if (format === 'parquet') return yield* writeParquet(batches, fields);
  const write = createLineWriter(shown);
  // with the first records: a store that fails before them is a 503
  let header = format === 'csv' ? csvHeader(fields) : undefined;
  for await (const { rows, lines } of batches) {
    yield { rows, bytes: header === undefined ? write(lines) : Buffer.concat([header, write(lines)]) };
    header = undefined;
  }
  if (header !== undefined) yield { rows: 0, bytes: header };
}
