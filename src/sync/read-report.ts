import type { SubscriptionExport } from '../client/index.ts';
import { type Row, rowOf } from './record-row.ts';

/**
 * Yields the rows of an NDJSON export, about a piece of the network at a time. Throws `ExportError`
 * at the end unless the export is complete and unaltered.
 */
export async function* readReport(
  report: SubscriptionExport,
  onRows: (count: number) => void,
): AsyncGenerator<readonly Row[], void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of report) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length === 0) continue;
    yield lines.map((line) => rowOf(JSON.parse(line), line));
    onRows(lines.length);
  }
}
