/** The worker that makes a workbook, so that the page does not wait for it. */

import { writeWorkbook } from '../../../cli/workbook/workbook.ts';
import { receiveStream, sendStream } from './stream-port.ts';

/** The message that starts the work: where the records come from, and where the workbook goes. */
export interface WorkbookRequest {
  readonly records: MessagePort;
  readonly workbook: MessagePort;
  readonly fields: readonly string[] | undefined;
}

addEventListener('message', ({ data }: MessageEvent<WorkbookRequest>) => {
  sendStream(writeWorkbook(receiveStream(data.records), data.fields), data.workbook);
});
