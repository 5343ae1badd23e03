import type { SubscriptionExport } from '../../../client/index.ts';
import type { Measured } from '../source/measured.ts';
import { isYetToCome } from '../source/yet-to-come.ts';
import { columnsOf, describeColumns } from './file-format.ts';
import { type CompleteRun, folderOf, type Manifest, manifestName } from './manifest.ts';

/** What a file has that its manifest or the report does not have. */
export interface Found {
  readonly faults: readonly string[];
  /** Differences of records that are not in `faults`. */
  readonly unnamed: number;
}

/** What a manifest says of its names and times, and is not so. */
export function claimFaults({ folder, name, manifest }: CompleteRun): string[] {
  const { file, format, scheduled_for: scheduled, completed_at: completed } = manifest;
  const faults: string[] = differ('files', manifest.files.join(', '), `${folder}/${file}`, 'its path');
  const [, run = '', ending] = /^\w+-(\w+)\.(.+)$/.exec(file) ?? [];
  if (manifestName(run) !== name) faults.push(`file '${file}', of another run than ${name}`);
  if (ending !== format) faults.push(`format '${format}', file '${file}'`);
  if (folderOf(new Date(scheduled)) !== folder) faults.push(`scheduled_for '${scheduled}', folder ${folder}`);
  faults.push(...differ('columns', describeColumns(columnsOf(format)), describeColumns(manifest.columns)));
  if (manifest.values !== 'raw' && !format.startsWith('csv'))
    faults.push(`values '${manifest.values}', format '${format}'`);
  if (isYetToCome(completed)) faults.push(`completed_at '${completed}', which is yet to come`);
  return faults;
}

/** What a manifest says of filters, and the report does not. */
export function filterFaults(
  { report: { applied_filters: claimed } }: Manifest,
  { headers }: SubscriptionExport,
): string[] {
  const applied = new URLSearchParams(headers.get('x-applied-filters') ?? '');
  applied.delete('as-of');
  if (new URLSearchParams(claimed).toString() === applied.toString()) return [];
  return [`report.applied_filters '${claimed}', report '${applied}'`];
}

/** What the bytes of a file do not have in common with its manifest. */
export const measuredFaults = (found: Measured, manifest: Manifest): string[] => [
  ...differ('bytes', found.bytes, manifest.bytes),
  ...differ('sha256', found.sha256, manifest.sha256),
];

/** A fault for two values that must be equal. */
export const differ = (
  what: string,
  found: string | number,
  claimed: string | number | undefined,
  by = 'manifest',
): string[] => (found === claimed ? [] : [`${what} ${found}, ${by} ${claimed}`]);
