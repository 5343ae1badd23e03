import type { LoadSummary, RejectedRow } from '../../../contract/load.ts';
import type { Import } from '../../../contract/operator/import.ts';
import { countText, type Output, writeResult } from '../../../terminal/output.ts';
import type { ImportCommandOptions } from './import-source.ts';

/**
 * Maximum number of rejected rows on the screen or in the JSON summary; `--errors FILE` has all.
 */
export const shownMax = 20;

function rejectedText({ line, errors }: RejectedRow): string {
  const faults = errors.map(({ field, value, rule }) => {
    const what = field === '' ? 'the row' : field;
    return `${what} must be ${rule}${value === null ? '' : `: current value is ${value}`}`;
  });
  return `line ${line}: ${faults.join('; ')}`;
}

type CountedOutcome = Pick<Import, 'outcome' | 'accepted' | 'rejected'>;

/** What became of an import in words: `loaded`, or with its counts: `2 loaded, 3 rejected`. */
export function outcomeText({ outcome, accepted, rejected }: CountedOutcome): string {
  if (outcome === 'loaded-with-rejects') return `${countText(accepted)} loaded, ${countText(rejected)} rejected`;
  if (outcome === 'checked-with-rejects') return `${countText(accepted)} valid, ${countText(rejected)} rejected`;
  return outcome;
}

/** The result of an import, as `--json` prints it. */
type ImportResult = Omit<LoadSummary, 'correlation_id'>;

/** Prints the result of an import, and before its text the rejected rows that it lists. */
export function writeImport(output: Output, { json, replace }: ImportCommandOptions, result: ImportResult): void {
  if (json !== true) for (const row of result.errors) output.stderr.write(`${rejectedText(row)}\n`);
  writeResult(
    output,
    json === true,
    result,
    [summaryText(result, replace === true), ...(result.notes ?? [])].join('\n') + recordsText(result),
  );
}

function recordsText({ first_records: records = [] }: ImportResult): string {
  if (records.length === 0) return '';
  return ['\nThe first rows, as they would be stored:', ...records.map((record) => JSON.stringify(record))].join('\n');
}

function summaryText(result: ImportResult, replace: boolean): string {
  const { tenant, outcome, dry_run: dryRun, seconds, errors } = result;
  const count = (name: 'read' | 'accepted' | 'rejected' | 'inserted' | 'updated' | 'unchanged' | 'removed'): string =>
    countText(result[name] ?? 0);
  const changes = `${count('inserted')} inserted, ${count('updated')} updated, ${count('unchanged')} unchanged${replace ? `, ${count('removed')} removed` : ''}`;
  const dry = replace
    ? `would be ${changes} (dry run: nothing was changed)`
    : `${count('accepted')} valid (dry run: nothing was loaded)`;
  const more = result.rejected > errors.length ? ` (${errors.length} of them shown; --errors FILE writes all)` : '';
  const skipped = result.skipped > 0 ? `, ${countText(result.skipped)} blank rows or repeated headers skipped` : '';
  const encoding = result.encoding === undefined ? '' : ` as ${result.encoding}`;
  return `Tenant ${tenant}: ${outcome.replaceAll('-', ' ')}: ${count('read')} rows read${encoding} in ${seconds.toFixed(1)} s: ${dryRun ? dry : changes}, ${count('rejected')} rejected${more}${skipped}.`;
}
