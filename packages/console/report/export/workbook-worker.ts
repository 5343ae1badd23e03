/** The worker that makes a workbook, so that the page does not wait for it. */

import { writeWorkbook } from '../../../cli/workbook/workbook.ts';
import { findZone } from '../../../contract/zone.ts';
import { receiveStream, sendStream } from './stream-port.ts';

/** The message that starts the work: where the records come from, and where the workbook goes. */
export interface WorkbookRequest {
  readonly records: MessagePort;
  readonly workbook: MessagePort;
  readonly fields: readonly string[] | undefined;
  /** The name of the zone of the dates. */
  readonly zone: string | undefined;
}

addEventListener('message', ({ data }: MessageEvent<WorkbookRequest>) => {
  const { records, workbook, fields, zone } = data;
  const options = { fields, zone: zone === undefined ? undefined : findZone(zone) };
  sendStream(writeWorkbook(receiveStream(records), options), workbook);
});
