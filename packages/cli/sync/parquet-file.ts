import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asyncBufferFromFile, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { type FieldType, recordFields } from '../../contract/record-fields.ts';
import type { RecordBatch } from './compare-records.ts';
import { SyncError } from './error.ts';
import { lineOf, type Row, valuesOf } from './record-row.ts';

/** How Parquet stores the types of fields. */
const physicalTypes: Readonly<Record<FieldType, string>> = {
  text: 'BYTE_ARRAY',
  instant: 'INT64 TIMESTAMP_MILLIS',
  integer: 'INT32',
  boolean: 'BOOLEAN',
};

/** A Parquet file in a temporary folder: it is read from its end, which not every place can. */
export class ParquetFile {
  readonly #folder: string;
  /** Its columns with their types, as `expectedColumns`. */
  columns = '';

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
  async *batches(): AsyncGenerator<RecordBatch, void, undefined> {
    const file = await asyncBufferFromFile(this.#path);
    const metadata = await readable(() => parquetMetadataAsync(file));
    this.columns = describeColumns(metadata);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const found = await readable(() => parquetReadObjects({ file, metadata, rowStart, rowEnd }));
      const rows = found.map(rowOf);
      yield { lines: rows.map(lineOf), valuesAt: (index) => valuesOf(rows[index] as Row) };
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

/** The columns that a file of Parquet must have. */
export const expectedColumns = recordFields.map(({ name, type }) => `${name} ${physicalTypes[type]}`).join(', ');

const describeColumns = ({ schema }: FileMetaData): string =>
  schema
    .slice(1)
    .map(({ name, type, converted_type: converted }) =>
      [name, type, ...(converted === undefined || converted === 'UTF8' ? [] : [converted])].join(' '),
    )
    .join(', ');

/** A row with the values that a record has; others stay as they are, and equal no record. */
const rowOf = (found: Readonly<Record<string, unknown>>): Row =>
  recordFields.map(({ name }) => {
    const value = found[name] ?? null;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : withoutMilliseconds(value);
    return typeof value === 'bigint' ? `${value}` : value;
  }) as unknown as Row;

const withoutMilliseconds = (value: Date): string => value.toISOString().replace('.000Z', 'Z');

async function readable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new SyncError('NOT_EQUAL', `it must be a file of Parquet: ${(error as Error).message}`, { cause: error });
  }
}
