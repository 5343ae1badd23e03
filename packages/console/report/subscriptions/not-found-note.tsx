import { listParameters } from '../../../contract/listed-values.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { filterStrings } from '../filters/filter-strings.ts';
import type { LoadedReport } from '../store/report-store.ts';
import { subscriptionsStrings } from './subscriptions-strings.ts';

const text = subscriptionsStrings;

/** Values that are shown; all of them can be copied. */
const shownMax = 3;

/** Which values of the list no subscription has. */
export function NotFoundNote({ report: { state, page } }: { readonly report: LoadedReport }) {
  const { listed } = state;
  if (listed === undefined) return null;
  const missing = listParameters.flatMap((name) => page.notFound[name] ?? []);
  const asked = filterStrings.list.count[listed.name](listed.values.length);
  return (
    <div role="status">
      <p class="row gap-1 long">
        {text.found(listed.values.length - missing.length, asked)}
        {missing.length > 0 && (
          <>
            {'; '}
            {text.notFound} <bdi>{missing.slice(0, shownMax).join(', ')}</bdi>
            {missing.length > shownMax && text.more(missing.length - shownMax)}
            <CopyButton text={missing.join('\n')} what={text.missing(missing.length)} />
          </>
        )}
      </p>
    </div>
  );
}
