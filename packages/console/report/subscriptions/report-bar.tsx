import { useEffect } from 'preact/hooks';
import { sortValues } from '../../../contract/query.ts';
import { AsOf } from '../../ui/as-of.tsx';
import { capital } from '../../ui/capital.ts';
import { ArrowUpDown } from '../../ui/icons.ts';
import { announce } from '../../ui/live-region.tsx';
import { Menu } from '../../ui/menu.tsx';
import { CountMenu } from '../counts/counts-view.tsx';
import { describeReport } from '../filters/describe-filters.ts';
import { filterStrings } from '../filters/filter-strings.ts';
import { pastStrings } from '../past/past-strings.ts';
import { type LoadedReport, showReport } from '../store/report-store.ts';
import { ColumnChooser } from '../table/column-chooser.tsx';
import { tableWidthMin } from '../table/columns.ts';
import { Pager } from '../table/pager.tsx';
import { productName } from '../words/product-names.ts';
import { daysHint, zoneOfPages } from '../zone/local-days.ts';
import { subscriptionsStrings } from './subscriptions-strings.ts';

const text = subscriptionsStrings;

interface ReportBarProps {
  readonly report: LoadedReport;
  readonly width: number;
  /** Whether the rows are not those that the user asked for. */
  readonly isStale: boolean;
}

/** What is shown, in a sentence, and where in the report that is. */
export function ReportBar({ report, width, isStale }: ReportBarProps) {
  const { state, page, loadedAt } = report;
  const sentence = describeReport(state, page.totalCount, { now: new Date(), productName });
  useEffect(() => announce(sentence), [page, sentence]);
  return (
    <div class="report-bar row">
      <p class="report-sentence long">
        <bdi>{sentence}</bdi>
        {zoneOfPages() !== undefined && <span class="soft">. {daysHint()}</span>}
        {isStale && <AsOf at={loadedAt} />}
      </p>
      <div class="report-tools row">
        {width < tableWidthMin ? <SortMenu report={report} /> : <ColumnChooser width={width} state={state} />}
        <CountMenu state={state} />
        {state.asOf === undefined && <Pager report={report} place="above" />}
      </div>
      {state.asOf !== undefined && page.records.length < page.totalCount && (
        <p class="soft">{pastStrings.first(page.records.length, page.totalCount)}</p>
      )}
    </div>
  );
}

/** The order, where there are no headers to click. */
const SortMenu = ({ report: { state } }: { report: LoadedReport }) => (
  <Menu
    label={text.sort}
    icon={ArrowUpDown}
    items={sortValues.map((sort) => ({
      label: capital(filterStrings.order[sort]),
      checked: sort === state.sort,
      onSelect: () => showReport({ ...state, sort, page: undefined }, 'above'),
    }))}
  />
);
