import type { Subscription } from '../../../client/index.ts';
import { describeDifferences } from './describe-differences.ts';
import { historyStrings } from './history-strings.ts';

/** The fields that differ between two versions of a record. */
export function DifferenceList({ before, after }: { readonly before: Subscription; readonly after: Subscription }) {
  const differences = describeDifferences(before, after);
  if (differences.length === 0)
    return <p class="differences soft small long">Its email address changed, or it was changed back.</p>;
  return (
    <ul class="differences small long">
      {differences.map(({ label, from, to }) => (
        <li key={label}>
          <span class="soft">{label}:</span> <bdi>{from || historyStrings.nothing}</bdi> →{' '}
          <bdi>{to || historyStrings.nothing}</bdi>
        </li>
      ))}
    </ul>
  );
}
