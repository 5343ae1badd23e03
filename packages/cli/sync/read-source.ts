import type { CallOptions, SubreportClient } from '../../client/index.ts';
import type { SourceIdentity } from './destination.ts';

/** A report, and who reads it. */
export interface Source extends SourceIdentity {
  readonly client: SubreportClient;
}

/** Where a report is in its changes. */
export interface CurrentPosition {
  /** The change token to continue from. */
  readonly token: string;
  /** The revision of the report; 0 if the service does not send it. */
  readonly revision: number;
}

/** Returns the current change token of a report. Throws an error of the client library. */
export async function currentPosition(client: SubreportClient, call: CallOptions): Promise<CurrentPosition> {
  for await (const page of client.changes('now', call)) return { token: page.next, revision: page.revision ?? 0 };
  throw new TypeError('Cannot read the changes: there must be a page');
}

/**
 * Yields the lines of an NDJSON export without their line feeds, about a piece of the network at a
 * time. Throws `ExportError` at the end unless the export is complete and unaltered.
 */
export async function* linesOf(report: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of report) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
}
