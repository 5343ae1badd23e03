import { parentPort } from 'node:worker_threads';
import { ParquetEncoder } from '../../contract/parquet.ts';
import type { ParquetRequest, ParquetResponse } from './write-parquet.ts';

// The thread that encodes the Parquet files of all exports of this process, a request at a time.

const files = new Map<number, ParquetEncoder>();

parentPort?.on('message', (request: ParquetRequest) => {
  if (request.kind === 'drop') return void files.delete(request.file);
  const bytes = encode(request);
  const response: ParquetResponse = { file: request.file, bytes };
  parentPort?.postMessage(response, [bytes.buffer]);
});

function encode(request: Exclude<ParquetRequest, { kind: 'drop' }>): Uint8Array<ArrayBuffer> {
  const file = files.get(request.file) ?? new ParquetEncoder(request.fields);
  files.set(request.file, file);
  return request.kind === 'add' ? file.add(request.lines) : file.end();
}
