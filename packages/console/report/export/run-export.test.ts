import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { workbookRecordsMax } from '../../../cli/workbook/workbook.ts';
import type { SubscriptionExport } from '../../../client/index.ts';
import { type ExportJob, type ExportProgress, runExport, WorkbookFullError } from './run-export.ts';

const csv = 'id,status\r\na,ACTIVE\r\nb,EXPIRED\r\n';

/** A stream that remembers how it ended. */
function recorder() {
  let text = '';
  let end: 'closed' | 'aborted' | undefined;
  const decoder = new TextDecoder();
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({
    write: (part) => {
      text += decoder.decode(part, { stream: true });
    },
    close: () => {
      end = 'closed';
    },
    abort: () => {
      end = 'aborted';
    },
  });
  return { writable, written: () => text, end: () => end };
}

/** A job that exports the parts and then ends with the error, if there is one. */
function jobOf(parts: string[], given: Partial<ExportJob> & { total?: number; error?: Error } = {}) {
  const file = recorder();
  const progress: ExportProgress[] = [];
  const { total = 2, error, ...job } = given;
  const left = parts.map((part) => new TextEncoder().encode(part));
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const part = left.shift();
      if (part !== undefined) controller.enqueue(part);
      else if (error === undefined) controller.close();
      else controller.error(error);
    },
  });
  const report = Object.assign(stream, { totalCount: total, headers: new Headers(), correlationId: 'x' });
  const result = runExport({
    client: { export: async () => report as SubscriptionExport },
    query: {},
    format: 'csv',
    writable: file.writable,
    toWorkbook: (records) => records,
    onProgress: (step) => progress.push(step),
    signal: new AbortController().signal,
    ...job,
  });
  return { result, file, progress };
}

describe('an export', () => {
  test('is written as it is received, with the SHA-256 and the size of the file', async () => {
    const { result, file } = jobOf([csv.slice(0, 15), csv.slice(15)]);
    expect(await result).toEqual({
      rows: 2,
      bytes: csv.length,
      sha256: createHash('sha256').update(csv).digest('hex'),
    });
    expect([file.written(), file.end()]).toEqual([csv, 'closed']);
  });

  test('whose number a proxy has removed counts its lines, and a Parquet file has none', async () => {
    const uncounted = jobOf([csv], { total: Number.NaN });
    expect(await uncounted.result).toMatchObject({ rows: 2 });
    expect(uncounted.progress).toEqual([{ rows: 2, totalRows: undefined }]);
    const parquet = jobOf(['PAR1'], { format: 'parquet' });
    expect(await parquet.result).toMatchObject({ rows: 2 });
    expect(parquet.progress).toEqual([{ rows: undefined, totalRows: 2 }]);
    expect((await jobOf(['PAR1'], { format: 'parquet', total: Number.NaN }).result).rows).toBeUndefined();
  });

  test('reports its progress some times a second, however many parts arrive', async () => {
    const { result, progress } = jobOf(Array(5000).fill(csv));
    const began = performance.now();
    await result;
    expect(progress.length).toBeLessThanOrEqual(2 + (performance.now() - began) / 100);
  });

  test('that the service rejects aborts the file', async () => {
    const error = new Error('too many exports');
    const { result, file } = jobOf([], { client: { export: () => Promise.reject(error) } });
    await expect(result).rejects.toBe(error);
    expect(file.end()).toBe('aborted');
  });

  test('that the person cancels aborts the file and stops reading', async () => {
    const abort = new AbortController();
    const { result, file } = jobOf(Array(1000).fill(csv), {
      signal: abort.signal,
      onProgress: () => abort.abort(),
    });
    await expect(result).rejects.toMatchObject({ name: 'AbortError' });
    expect(file.end()).toBe('aborted');
    expect(file.written().length).toBeLessThan(csv.length * 10);
  });

  test('to a workbook is refused before the first record if a sheet has too few rows for it', async () => {
    const total = workbookRecordsMax + 1;
    const { result, file } = jobOf(['{}\n'], { format: 'xlsx', total });
    await expect(result).rejects.toThrow(WorkbookFullError);
    expect([file.written(), file.end()]).toEqual(['', 'aborted']);
    const uncounted = jobOf(['\n'.repeat(total)], { format: 'xlsx', total: Number.NaN });
    await expect(uncounted.result).rejects.toThrow(WorkbookFullError);
  });
});
