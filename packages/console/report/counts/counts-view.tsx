import { useEffect, useState } from 'preact/hooks';
import type { SubscriptionSummary, SummaryQuery } from '../../../client/index.ts';
import { type SummaryGroup, summaryGroups } from '../../../contract/summary.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { countOf } from '../../ui/format-count.ts';
import { List } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { type Load, useLoad } from '../../ui/use-load.ts';
import { reports } from '../api.ts';
import { SaveCsvButton } from '../export/save-csv-button.tsx';
import { describeAsOf, describeFilters } from '../filters/describe-filters.ts';
import { filterStrings } from '../filters/filter-strings.ts';
import { type ReportState, withFilters } from '../link/report-state.ts';
import { shownTime } from '../past/as-of.ts';
import { instantOf } from '../past/read-as-of.ts';
import { NoRecords } from '../session/no-records.tsx';
import { openings, reportHref, showReport } from '../store/report-store.ts';
import { titles } from '../titles.ts';
import { productName, rememberProducts } from '../words/product-names.ts';
import { zoneName } from '../zone/local-days.ts';
import { CountBars, labelOf } from './count-bars.tsx';
import { countedDate, filtersOfCount } from './count-links.ts';
import { countStrings } from './count-strings.ts';
import { countRows, countsCsv } from './counts-table.ts';

const text = countStrings;

/** The dimensions by which a report can be counted, as a menu. */
export const CountMenu = ({ state }: { readonly state: ReportState }) => (
  <Menu
    label={text.menu}
    items={summaryGroups.map((by) => ({
      label: labelOf(by),
      checked: by === state.by,
      onSelect: () => showReport({ ...state, by, page: undefined }, 'above'),
    }))}
  />
);

/** The records that match the filters, counted by a dimension: bars, numbers and CSV. */
export function CountsView({ state, by }: { readonly state: ReportState; readonly by: SummaryGroup }) {
  const { filters, listed } = state;
  const needsDates = by === 'day' && !isLimited(filters);
  const isCountable = filters.email === undefined && listed === undefined && !needsDates;
  const load = useLoad(isCountable ? (signal) => readCounts(state, by, signal) : undefined, {
    key: `${openings.value} ${reportHref(state)}`,
  });
  return (
    <>
      <div class="report-bar row">
        <Sentence state={state} by={by} load={load} />
        <div class="report-tools row">
          <CountMenu state={state} />
          <Button icon={List} onClick={() => showReport({ ...state, by: undefined }, 'above')}>
            {text.list}
          </Button>
        </div>
      </div>
      {filters.email !== undefined && <EmptyState title={text.noCounts} text={text.notByEmail} />}
      {listed !== undefined && <EmptyState title={text.noCounts} text={text.notByList} />}
      {needsDates && <EmptyState title={text.noCounts} text={text.needsDates} />}
      {isCountable && load.kind === 'loading' && (
        <Loading>
          <Skeleton height="320px" />
        </Loading>
      )}
      {isCountable && load.kind === 'failed' && <ErrorNote error={load.error} onRetry={load.retry} />}
      {isCountable && load.kind === 'ready' && <CountCard state={state} by={by} summary={load.value} />}
    </>
  );
}

async function readCounts(state: ReportState, by: SummaryGroup, signal: AbortSignal): Promise<SubscriptionSummary> {
  const query = {
    ...state.filters,
    by,
    'date-field': countedDate(state.filters),
    'as-of': instantOf(state.asOf),
    ...(isOfDays(by) && { zone: state.zone }),
  } as SummaryQuery;
  const summary = await reports.summary(query, { signal });
  rememberProducts((summary.by['product-id'] ?? []).map(({ value, name }) => ({ id: value, name: name || value })));
  return summary;
}

const isOfDays = (by: SummaryGroup): boolean => by === 'day' || by === 'month';

/** Whether a period limits the date by which days are counted. */
function isLimited(filters: ReportState['filters']): boolean {
  const date = countedDate(filters);
  const has = (...names: readonly (keyof typeof filters)[]): boolean =>
    names.every((name) => filters[name] !== undefined);
  return (
    has('after', 'before') ||
    (date === 'created' && has('created-from', 'created-to')) ||
    (date === 'expiration' && has('expires-within'))
  );
}

function Sentence({ state, by, load }: { state: ReportState; by: SummaryGroup; load: Load<SubscriptionSummary> }) {
  const filters = describeFilters(state, { now: new Date(), productName }).map(({ phrase }) => phrase);
  const count = load.kind === 'ready' ? filterStrings.count(load.value.total) : titles.subscriptions;
  const date = isOfDays(by) ? text.ofDate[countedDate(state.filters)] : '';
  const zone = isOfDays(by) ? [text.inZone(zoneName())] : [];
  const sentence = [`${count} by ${text.values[by][0]}${date}`, ...zone, ...filters, ...describeAsOf(state)].join(', ');
  useEffect(() => {
    if (load.kind === 'ready') announce(sentence);
  }, [load.kind, sentence]);
  return (
    <p class="report-sentence long">
      <bdi>{sentence}</bdi>
    </p>
  );
}

/** More rows are shown on request: thousands of products take long to draw. */
const rowsPerStep = 200;

function CountCard({ state, by, summary }: { state: ReportState; by: SummaryGroup; summary: SubscriptionSummary }) {
  const rows = countRows(by, summary);
  const [one, many] = text.values[by];
  const [shown, setShown] = useState(rowsPerStep);
  if (rows.length === 0)
    return Object.keys(state.filters).length === 0 ? (
      <NoRecords />
    ) : (
      <EmptyState title={filterStrings.noMatch} text={summary.explanation} />
    );
  return (
    <Card
      title={countOf(rows.length, one, many)}
      actions={<SaveCsvButton what={`subscriptions-by-${by}`} csv={() => countsCsv(by, summary)} />}
    >
      <CountBars
        by={by}
        rows={rows}
        shown={shown}
        hrefOf={({ value }) => {
          const changes = filtersOfCount(by, value, state.filters, shownTime());
          return changes && reportHref({ ...withFilters(state, changes), by: undefined });
        }}
      />
      {rows.length > shown && (
        <>
          <p class="soft">{text.listed(shown, countOf(rows.length, one, many))}</p>
          <div class="no-print">
            <Button onClick={() => setShown(shown + rowsPerStep)}>
              {countStrings.showMore(Math.min(rows.length - shown, rowsPerStep))}
            </Button>
          </div>
        </>
      )}
    </Card>
  );
}
