import type { LoadOutcome } from '../../contract/load.ts';
import type { Import } from '../../contract/operator/import.ts';
import type { RejectedRow } from '../../import/read-valid-rows.ts';
import type { ReplaceSummary } from '../../import/replace-records.ts';

/**
 * Maximum number of rejected rows on the screen or in the JSON summary; `--errors FILE` has all.
 */
export const shownMax = 20;

export function rejectedText({ line, errors }: Pick<RejectedRow, 'line' | 'errors'>): string {
  const faults = errors.map(({ field, value, rule }) => {
    const what = field === '' ? 'the row' : field;
    return `${what} must be ${rule}${value === null ? '' : `: current value is ${value}`}`;
  });
  return `line ${line}: ${faults.join('; ')}`;
}

interface SummaryDetails {
  readonly tenant: string;
  readonly outcome: LoadOutcome;
  readonly replace: boolean;
  readonly dryRun: boolean;
  readonly seconds: number;
  readonly shown: number;
  /** Number of rows that an earlier import had completed. */
  readonly resumedFrom: number;
}

type CountedOutcome = Pick<Import, 'outcome' | 'accepted' | 'rejected'>;

/** What became of an import in words: `loaded`, or with its counts: `2 loaded, 3 rejected`. */
export function outcomeText({ outcome, accepted, rejected }: CountedOutcome): string {
  if (outcome === 'loaded-with-rejects') return `${accepted} loaded, ${rejected} rejected`;
  if (outcome === 'checked-with-rejects') return `${accepted} valid, ${rejected} rejected`;
  return outcome;
}

export function summaryText(summary: ReplaceSummary, details: SummaryDetails): string {
  const { read, accepted, rejected, inserted, updated, unchanged, removed } = summary;
  const { tenant, outcome, replace, dryRun, seconds, shown, resumedFrom } = details;
  const changes = `${inserted} inserted, ${updated} updated, ${unchanged} unchanged${replace ? `, ${removed} removed` : ''}`;
  const dry = replace
    ? `would be ${changes} (dry run: nothing was changed)`
    : `${accepted} valid (dry run: nothing was loaded)`;
  const more = rejected > shown ? ` (${shown} of them shown; --errors FILE writes all)` : '';
  const resumed = resumedFrom > 0 ? ` (resumed after row ${resumedFrom})` : '';
  return `Tenant ${tenant}: ${outcome.replaceAll('-', ' ')}: ${read} rows read${resumed} in ${seconds.toFixed(1)} s: ${dryRun ? dry : changes}, ${rejected} rejected${more}.`;
}
