/** The worker that makes a workbook, so that the page does not wait for it. */

import { readRecords } from './read-records.ts';
import { receiveStream, sendStream } from './stream-port.ts';
import { type WorkbookTexts, writeWorkbook } from './workbook.ts';

/** The message that starts the work: where the records come from, and where the workbook goes. */
export interface WorkbookRequest {
  readonly records: MessagePort;
  readonly workbook: MessagePort;
  readonly texts: WorkbookTexts;
}

addEventListener('message', ({ data }: MessageEvent<WorkbookRequest>) => {
  const records = readRecords(receiveStream(data.records));
  sendStream(writeWorkbook(records, data.texts), data.workbook);
});
