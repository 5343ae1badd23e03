import { useEffect, useState } from 'preact/hooks';
import type { SubscriptionFindings } from '../../../client/index.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { SearchX } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { reports } from '../api.ts';
import { describeFilters, type FilterText, filterKinds } from '../filters/describe-filter.ts';
import { type ReportState, wholeReport, withFilters } from '../link/report-state.ts';
import { NoRecords } from '../session/no-records.tsx';
import { pagePosition } from '../store/page-position.ts';
import { countRecords, type LoadedReport, showReport } from '../store/report-store.ts';
import { strings } from '../strings.ts';
import { productName } from '../words/product-names.ts';

const text = strings.subscriptions;

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
  const [loosened, setLoosened] = useState<readonly Loosened[]>();
  useEffect(() => {
    const abort = new AbortController();
    Promise.all(filters.map((filter) => loosen(state, filter, abort.signal))).then(setLoosened, () => {
      if (!abort.signal.aborted) setLoosened([]); // the filters can still be removed one by one
    });
    return () => abort.abort();
  }, [state]);
  const useful = loosened?.filter(({ count }) => count > 0) ?? [];
  const hint = loosened === undefined ? text.noMatch.counting : useful.length > 0 ? text.noMatch.text : undefined;
  return (
    <EmptyState icon={SearchX} title={text.noMatch.title}>
      <div class="no-match">
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
          <bdi>{text.noMatch.without(text.chip(filter.label, filter.value), text.count(count))}</bdi>
        </Button>
      ))}
      {loosened !== undefined && useful.length === 0 && (
        <Button onClick={() => showReport({ ...wholeReport, sort: state.sort, size: state.size })}>
          {text.clearAll}
        </Button>
      )}
    </EmptyState>
  );
}

/** Why a subscriber may have no records: no addresses were loaded, or the records are old. */
function SubscriberHint({ isAlone }: { readonly isAlone: boolean }) {
  const [found, setFound] = useState<SubscriptionFindings>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const abort = new AbortController();
    reports.findings({ signal: abort.signal }).then(setFound, (failure: unknown) => {
      if (!abort.signal.aborted) setError(failure);
    });
    return () => abort.abort();
  }, []);
  if (error !== undefined) return <ErrorNote error={error} />;
  if (found === undefined) return <p class="soft">{text.noSubscriber.counting}</p>;
  const { total, changed_at: changed, findings } = found;
  const without = findings.find(({ kind }) => kind === 'no-email')?.count ?? 0;
  return (
    <>
      <p>{text.noSubscriber.withAddress(total - without, total, isAlone)}</p>
      <p>
        {changed === undefined ? text.noSubscriber.longUnchanged : text.noSubscriber.changed(formatMinute(changed))}{' '}
        <Link href={changesHref}>{strings.changes.title}</Link>
      </p>
    </>
  );
}

const changesHref = '/console/changes?since=30d';

async function loosen(state: ReportState, filter: FilterText, signal: AbortSignal): Promise<Loosened> {
  const removed = Object.fromEntries(filterKinds[filter.kind].map((name) => [name, undefined]));
  const wider = withFilters(state, removed);
  return { filter, state: wider, count: await countRecords(wider, { signal }) };
}
