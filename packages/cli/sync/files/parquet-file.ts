import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asyncBufferFromFile, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { recordFields } from '../../../contract/record-fields.ts';
import { SyncError } from '../source/error.ts';
import { type Cell, lineOf, type Row } from '../source/record-row.ts';
import { describeColumns, duckTypes, type FileColumn } from './file-format.ts';
import { differ, type Manifest } from './manifest.ts';

/**
 * Reads a file of Parquet as the lines of the export that it is made of: from a temporary file, as
 * its end is read first. Throws `SyncError` `NOT_EQUAL` if it cannot be read as Parquet.
 */
export async function* linesOfParquet(
  bytes: AsyncIterable<Uint8Array>,
  { columns }: Manifest,
  faults: string[],
): AsyncGenerator<readonly string[], void, undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'subreport-verify-'));
  try {
    const path = join(folder, 'file.parquet');
    await pipeline(bytes, createWriteStream(path, { mode: 0o600 }));
    const file = await asyncBufferFromFile(path);
    const metadata = await readable(() => parquetMetadataAsync(file));
    faults.push(...differ('columns', describeColumns(columnsIn(metadata)), describeColumns(columns)));
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const found = await readable(() => parquetReadObjects({ file, metadata, rowStart, rowEnd }));
      yield found.map((row) => lineOf(rowOf(row)));
      rowStart = rowEnd;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The columns of a file; a type that no column of ours has is that of Parquet. */
const columnsIn = ({ schema }: FileMetaData): readonly FileColumn[] =>
  schema.slice(1).map(({ name, type, converted_type: converted, logical_type: logical }) => {
    const isUtc = logical?.type === 'TIMESTAMP' && logical.isAdjustedToUTC;
    const parquet = [type, converted, ...(isUtc ? ['UTC'] : [])].filter((part) => part !== undefined).join(' ');
    return { name, type: typesOfParquet[parquet] ?? parquet };
  });

const typesOfParquet: Readonly<Record<string, string>> = {
  'BYTE_ARRAY UTF8': duckTypes.text,
  'INT64 TIMESTAMP_MILLIS UTC': duckTypes.instant,
  INT32: duckTypes.integer,
  BOOLEAN: duckTypes.boolean,
};

/** A row with the values that a record has; others stay as they are, and equal no record. */
const rowOf = (found: Readonly<Record<string, unknown>>): Row =>
  recordFields.map(({ column }) => {
    const value = found[column] ?? null;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : withoutMilliseconds(value);
    return typeof value === 'bigint' ? `${value}` : (value as Cell);
  });

const withoutMilliseconds = (value: Date): string => value.toISOString().replace('.000Z', 'Z');

async function readable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new SyncError('NOT_EQUAL', `it must be a file of Parquet: ${(error as Error).message}`, { cause: error });
  }
}
