import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asyncBufferFromFile, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { recordFields } from '../../../contract/record-fields.ts';
import { SyncError } from '../source/error.ts';
import { type Cell, lineOf, type Row } from '../source/record-row.ts';
import { duckTypes, type FileColumn } from './file-format.ts';

/** A Parquet file in a temporary folder: it is read from its end, which not every place can. */
export class ParquetFile {
  readonly #folder: string;
  /** Its columns, once they were read. */
  columns: readonly FileColumn[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async store(bytes: AsyncIterable<Uint8Array>): Promise<ParquetFile> {
    const file = new ParquetFile(await mkdtemp(join(tmpdir(), 'subreport-verify-')));
    try {
      await pipeline(bytes, createWriteStream(file.#path, { mode: 0o600 }));
      return file;
    } catch (error) {
      await file.remove();
      throw error;
    }
  }

  /** The records. Throws `SyncError` `NOT_EQUAL` if it cannot be read as Parquet. */
  async *lines(): AsyncGenerator<readonly string[], void, undefined> {
    const file = await asyncBufferFromFile(this.#path);
    const metadata = await readable(() => parquetMetadataAsync(file));
    this.columns = columnsIn(metadata);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const found = await readable(() => parquetReadObjects({ file, metadata, rowStart, rowEnd }));
      yield found.map((row) => lineOf(rowOf(row)));
      rowStart = rowEnd;
    }
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #path(): string {
    return join(this.#folder, 'file.parquet');
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
