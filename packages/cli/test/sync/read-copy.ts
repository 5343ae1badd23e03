import { type DestinationOptions, openCopy, openDestination } from '../../sync/destinations.ts';
import type { Source } from '../../sync/source/read-source.ts';
import { lineOf } from '../../sync/source/record-row.ts';
import { runSync, type SyncResult } from '../../sync/table/run-sync.ts';
import { sha256 } from './changing-report.ts';

const discard = async (): Promise<void> => undefined;

/** Syncs as the command does. */
export const syncTo = async (source: Source, options: DestinationOptions): Promise<SyncResult> =>
  runSync(source, await openDestination(options, discard));

/** What a reader of a copy sees: SHA-256 of its lines as in the export; 'none' without a copy. */
export async function digestOfCopy(options: DestinationOptions): Promise<string> {
  const copy = await openCopy(options).catch(() => undefined);
  if (copy === undefined) return 'none';
  try {
    if ((await copy.position()) === undefined) return 'none';
    let lines = '';
    for await (const rows of copy.rows()) lines += rows.map((row) => `${lineOf(row)}\n`).join('');
    return sha256(lines);
  } finally {
    await copy.close();
  }
}
