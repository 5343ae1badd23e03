import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { SearchX } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { strings as shared } from '../../ui/strings.ts';
import { useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { describeFilters, type FilterText } from '../filters/describe-filters.ts';
import { filterStrings as filterText } from '../filters/filter-strings.ts';
import { removalOf } from '../filters/filters.ts';
import { type ReportState, wholeReport, withFilters } from '../link/report-state.ts';
import { NoRecords } from '../session/no-records.tsx';
import { pagePosition } from '../store/page-position.ts';
import { countRecords, type LoadedReport, showReport } from '../store/report-store.ts';
import { titles } from '../titles.ts';
import { productName } from '../words/product-names.ts';
import { tableStrings } from './table-strings.ts';

const text = tableStrings;

/** Why a page has no rows, and what to do about it. */
export function EmptyReport({ report }: { report: LoadedReport }) {
  const { state, page } = report;
  if (page.totalCount > 0) return <PastEnd report={report} />;
  const filters = describeFilters(state, { now: new Date(), productName });
  return filters.length === 0 ? (
    <NoRecords />
  ) : (
    <NoMatch state={state} filters={filters} explanation={page.explanation} />
  );
}

function PastEnd({ report: { state, page } }: { report: LoadedReport }) {
  const { number, count, first } = pagePosition(page);
  return (
    <EmptyState
      icon={SearchX}
      title={text.pastEnd.title(formatCount(number))}
      text={text.pastEnd.text(text.pastEnd.pages(count))}
    >
      <Button onClick={() => showReport({ ...state, page: count + first - 1 }, 'above')}>{text.pastEnd.last}</Button>
    </EmptyState>
  );
}

/** What would match without one of the filters. */
interface Loosened {
  readonly filter: FilterText;
  readonly state: ReportState;
  readonly count: number;
}

interface NoMatchProps {
  readonly state: ReportState;
  readonly filters: readonly FilterText[];
  readonly explanation: string | undefined;
}

function NoMatch({ state, filters, explanation }: NoMatchProps) {
  const load = useLoad((signal) => Promise.all(filters.map((filter) => loosen(state, filter, signal))), { key: state });
  // after a failure, the filters can still be removed one by one
  const useful = load.kind === 'ready' ? load.value.filter(({ count }) => count > 0) : [];
  const hint = load.kind === 'loading' ? text.noMatch.counting : useful.length > 0 ? text.noMatch.text : undefined;
  return (
    <EmptyState icon={SearchX} title={filterText.noMatch}>
      <div class="no-match stack gap-1">
        {explanation !== undefined && (
          <p>
            <bdi>{explanation}</bdi>
          </p>
        )}
        {state.filters.email !== undefined && state.asOf === undefined && (
          <SubscriberHint isAlone={filters.length === 1} />
        )}
        {hint !== undefined && <p>{hint}</p>}
      </div>
      {useful.map(({ filter, state: wider, count }) => (
        <Button key={filter.kind} onClick={() => showReport(wider)}>
          <bdi>{text.noMatch.without(shared.filters.chip(filter.label, filter.value), filterText.count(count))}</bdi>
        </Button>
      ))}
      {load.kind !== 'loading' && useful.length === 0 && (
        <Button onClick={() => showReport({ ...wholeReport, sort: state.sort, size: state.size })}>
          {shared.filters.clear}
        </Button>
      )}
    </EmptyState>
  );
}

/** Why a subscriber may have no records: no addresses were loaded, or the records are old. */
function SubscriberHint({ isAlone }: { readonly isAlone: boolean }) {
  const load = useLoad((signal) => reports.findings({ signal }));
  if (load.kind === 'failed') return <ErrorNote error={load.error} onRetry={load.retry} />;
  if (load.kind === 'loading') return <p class="soft">{text.noSubscriber.counting}</p>;
  const { total, changed_at: changed, findings } = load.value;
  const without = findings.find(({ kind }) => kind === 'no-email')?.count ?? 0;
  return (
    <>
      <p>{text.noSubscriber.withAddress(total - without, total, isAlone)}</p>
      <p>
        {changed === undefined ? text.noSubscriber.longUnchanged : text.noSubscriber.changed(formatMinute(changed))}{' '}
        <Link href={changesHref}>{titles.changes}</Link>
      </p>
    </>
  );
}

const changesHref = '/console/changes?since=30d';

async function loosen(state: ReportState, filter: FilterText, signal: AbortSignal): Promise<Loosened> {
  const wider = withFilters(state, removalOf(filter.kind));
  return { filter, state: wider, count: await countRecords(wider, { signal }) };
}
