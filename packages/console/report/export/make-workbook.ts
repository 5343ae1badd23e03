import { receiveStream, sendStream } from './stream-port.ts';
import type { WorkbookRequest } from './workbook-worker.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Makes a workbook of NDJSON in a worker, which ends with the stream. It has all columns without
 * `fields`, and dates in UTC without `zone`.
 */
export function makeWorkbook(
  records: ReadableStream<Bytes>,
  { fields, zone }: Pick<WorkbookRequest, 'fields' | 'zone'>,
): ReadableStream<Bytes> {
  const worker = new Worker(new URL('./workbook-worker.ts', import.meta.url), { type: 'module' });
  const { port1: input, port2: recordsPort } = new MessageChannel();
  const { port1: output, port2: workbookPort } = new MessageChannel();
  const request: WorkbookRequest = { records: recordsPort, workbook: workbookPort, fields, zone };
  worker.postMessage(request, [recordsPort, workbookPort]);
  const workbook = receiveStream(output).getReader();
  let cancelRecords: (reason: unknown) => Promise<void>;
  return new ReadableStream<Bytes>({
    start(controller) {
      const fail = (error: unknown): void => {
        worker.terminate();
        controller.error(error);
      };
      ({ cancel: cancelRecords } = sendStream(records, input, fail));
      worker.onerror = ({ message }) =>
        fail(new Error(`Cannot make the workbook: ${message || 'its program is missing'}`));
    },
    async pull(controller) {
      const { done, value } = await workbook.read();
      if (!done) return controller.enqueue(value);
      worker.terminate();
      controller.close();
    },
    async cancel(reason) {
      worker.terminate();
      await cancelRecords(reason);
    },
  });
}
