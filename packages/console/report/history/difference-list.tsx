import type { Subscription } from '../../../client/index.ts';
import { strings } from '../strings.ts';
import { describeDifferences } from './describe-differences.ts';

/** The fields that differ between two versions of a record. */
export function DifferenceList({ before, after }: { readonly before: Subscription; readonly after: Subscription }) {
  const differences = describeDifferences(before, after);
  if (differences.length === 0) return <p class="differences soft">{strings.changes.noDifference}</p>;
  return (
    <ul class="differences">
      {differences.map(({ label, from, to }) => (
        <li key={label}>
          <span class="soft">{label}:</span> <bdi>{from || strings.changes.nothing}</bdi> →{' '}
          <bdi>{to || strings.changes.nothing}</bdi>
        </li>
      ))}
    </ul>
  );
}
