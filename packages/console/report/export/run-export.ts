import { workbookRecordsMax } from '../../../cli/workbook/workbook.ts';
import type { ExportQuery, SubreportClient } from '../../../client/index.ts';
import { startSha256 } from '../../../client/sha256.ts';
import { readFields } from '../../../contract/fields.ts';
import { type ExportFormat, exportFormats } from './export-format.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** How far an export is. */
export interface ExportProgress {
  /** The records received; unknown in a Parquet file, which has no lines to count. */
  readonly rows: number | undefined;
  /** Unknown if a proxy has removed the number. */
  readonly totalRows: number | undefined;
}

/** A complete export: its records, if they are known, and the size and SHA-256 of the file. */
export interface ExportResult {
  readonly rows: number | undefined;
  readonly bytes: number;
  readonly sha256: string;
}

/** An export and where it goes. */
export interface ExportJob {
  readonly client: Pick<SubreportClient, 'export'>;
  readonly query: ExportQuery;
  readonly format: ExportFormat;
  readonly writable: WritableStream<Bytes>;
  /** Makes a workbook of NDJSON. */
  readonly toWorkbook: (
    records: ReadableStream<Bytes>,
    options: { readonly fields: readonly string[] | undefined; readonly zone: string | undefined },
  ) => ReadableStream<Bytes>;
  readonly onProgress: (progress: ExportProgress) => void;
  readonly signal: AbortSignal;
}

/** Time between two reports of the progress; drawing each part would take longer than the part. */
const reportMs = 100;

/** The report has more records than a sheet has rows. */
export class WorkbookFullError extends Error {
  constructor() {
    super(`Cannot make a workbook: a sheet has room for ${workbookRecordsMax} records: the report has more`);
  }
}

/**
 * Writes the whole report to a stream, which is closed only if the report is complete and
 * unaltered, and otherwise aborted. Throws a `SubreportError`, a `WorkbookFullError`, or the reason
 * of the signal.
 */
export async function runExport(job: ExportJob): Promise<ExportResult> {
  const { client, query, format, writable, toWorkbook, onProgress, signal } = job;
  try {
    const { sent } = exportFormats[format];
    const { dates, ...others } = query;
    const report = await client.export(sent === 'csv' ? query : others, { format: sent, signal });
    const totalRows = Number.isNaN(report.totalCount) ? undefined : report.totalCount;
    const isTooLong = (records = 0): boolean => format === 'xlsx' && records > workbookRecordsMax;
    if (isTooLong(totalRows)) {
      await report.cancel();
      throw new WorkbookFullError();
    }
    let nextReport = 0;
    let lines = 0;
    // the first line of CSV has the names of the columns
    const rows = (): number | undefined =>
      sent === 'parquet' ? undefined : Math.max(sent === 'csv' ? lines - 1 : lines, 0);
    const counted = (report as ReadableStream<Bytes>).pipeThrough(
      observe((part) => {
        if (sent !== 'parquet') lines += countLines(part);
        if (isTooLong(rows())) throw new WorkbookFullError();
        if (performance.now() < nextReport) return;
        nextReport = performance.now() + reportMs;
        onProgress({ rows: rows(), totalRows });
      }),
    );
    const hash = startSha256();
    let bytes = 0;
    const file = (
      format === 'xlsx'
        ? toWorkbook(counted, {
            fields: query.fields && readFields([query.fields].flat().join()).fields,
            zone: dates === 'local' ? query.zone : undefined,
          })
        : counted
    ).pipeThrough(
      observe((part) => {
        hash.update(part);
        bytes += part.byteLength;
      }),
    );
    await file.pipeTo(writable, { signal });
    // the number that the service sent was verified
    return { rows: rows() ?? totalRows, bytes, sha256: hash.digest('hex') };
  } catch (error) {
    await writable.abort(error).catch(() => undefined); // already aborted, if it was in use
    throw error;
  }
}

const observe = (onPart: (part: Bytes) => void): TransformStream<Bytes, Bytes> =>
  new TransformStream({
    transform(part, controller) {
      onPart(part);
      controller.enqueue(part);
    },
  });

const lineFeed = 10;

/** No field has a line break, so each line is a record. */
function countLines(part: Bytes): number {
  let lines = 0;
  for (let at = part.indexOf(lineFeed); at !== -1; at = part.indexOf(lineFeed, at + 1)) lines += 1;
  return lines;
}
