import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { UsageError, writeFailure } from '../../terminal/error.ts';
import type { CopyGauges } from '../sync/copy-metrics.ts';

/** Takes what was read about a copy. */
export type NoteGauges = (read: CopyGauges) => void;

/**
 * Runs `work`, and writes to the file what it has read, also if it fails afterwards. While the
 * revision stays the same, the time of the last success never becomes an earlier one, unless it is
 * yet to come.
 */
export async function withMetrics(file: string | undefined, work: (note: NoteGauges) => Promise<void>): Promise<void> {
  if (file !== undefined && !/[^/]\.prom$/.test(file))
    throw new UsageError(
      `Cannot use --metrics: its name must be that of the copy and end in .prom, such as /run/subreport-sync/warehouse.prom: current value is '${file}'`,
    );
  const gauges: CopyGauges = { copy_read: 0 };
  try {
    await work((read) => void Object.assign(gauges, read));
  } finally {
    if (file !== undefined) await writeMetrics(file, gauges);
  }
}

const success = 'last_success_timestamp_seconds';

function readIfAny(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // there is none yet, or writing it says why it cannot be used
  }
}

/** Replaces the file: a reader sees the old or the new one. */
async function writeMetrics(file: string, gauges: CopyGauges): Promise<void> {
  const { metricsText, parseMetrics } = await import('../sync/copy-metrics.ts');
  const { revision, last_success_timestamp_seconds: last = 0 } = parseMetrics(readIfAny(file));
  const isOfSame = revision !== undefined && revision === gauges.revision;
  const isKept = isOfSame && last > (gauges[success] ?? last) && last * 1_000 <= Date.now();
  // a collector of metrics reads no file with this end
  const part = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(part, metricsText(basename(file, '.prom'), { ...gauges, ...(isKept && { [success]: last }) }), {
      flag: 'wx',
    });
    chmodSync(part, 0o644); // a collector runs as another user, and no record is in it
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw writeFailure(file, error as NodeJS.ErrnoException);
  }
}
