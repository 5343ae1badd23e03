import type { LoadCounts, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { checkRow } from './check-row.ts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import type { RowFault, SourceRow } from './source-row.ts';
import { unpack } from './unpack.ts';

/** The formats that can be imported. */
export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** A row that was not loaded, and why. */
export interface RejectedRow {
  readonly line: number;
  readonly errors: readonly RowFault[];
  /** The row as it stands in the source. */
  readonly raw: string;
}

/** What an import did. `read` counts rows; in a dry run nothing is inserted, updated or unchanged. */
export interface ImportSummary extends LoadCounts {
  readonly read: number;
  readonly accepted: number;
  readonly rejected: number;
}

/** How to import. */
export interface ImportOptions {
  readonly format: ImportFormat;
  /** Check every row and load none. */
  readonly dryRun: boolean;
  /** Most bytes that a packed source may unpack to. */
  readonly unpackedBytesMax?: number;
  /** Told of each row that is rejected, in the order of the source. */
  readonly onRejected: (row: RejectedRow) => Promise<void> | void;
  /** Told after each batch how many rows have been read. */
  readonly onProgress?: (read: number) => void;
}

/** A source that unpacks to more is not what somebody meant to import. */
export const unpackedGibMax = 64;
const gib = 2 ** 30;

/** Rows of one transaction: large enough to share its cost, small enough that another writer waits some milliseconds only. */
const batchRows = 1_000;

/**
 * Reads a source, unpacking gzip and zstd, row by row, checks each against the contract and loads the good ones in batches, each durable when it is counted. The same source twice
 * changes nothing. Of several rows with one id, the last one counts.
 */
export async function importRecords(
  store: Store,
  tenant: TenantId,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const counts = { read: 0, accepted: 0, rejected: 0, inserted: 0, updated: 0, unchanged: 0 };
  const batch = new Map<string, SubscriptionRow>();
  const flush = async (): Promise<void> => {
    if (batch.size > 0 && !options.dryRun) {
      const loaded = await store.loadSubscriptions(tenant, [...batch.values()]);
      for (const name of ['inserted', 'updated', 'unchanged'] as const) counts[name] += loaded[name];
    }
    batch.clear();
    options.onProgress?.(counts.read);
  };
  for await (const sourceRow of readRows(
    unpack(source, options.unpackedBytesMax ?? unpackedGibMax * gib),
    options.format,
  )) {
    counts.read += 1;
    const checked = checkSourceRow(sourceRow);
    if ('faults' in checked) {
      counts.rejected += 1;
      await options.onRejected({ line: sourceRow.line, errors: checked.faults, raw: sourceRow.raw });
      continue;
    }
    counts.accepted += 1;
    if (batch.has(checked.row.id) || batch.size >= batchRows) await flush();
    batch.set(checked.row.id, checked.row);
  }
  await flush();
  return counts;
}

function readRows(source: AsyncIterable<Buffer>, format: ImportFormat): AsyncGenerator<SourceRow> {
  return format === 'csv' ? readCsv(source) : readNdjson(source);
}

function checkSourceRow({ content }: SourceRow) {
  return 'faults' in content ? content : checkRow(content.value);
}
