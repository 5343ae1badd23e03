import { useEffect, useRef } from 'preact/hooks';
import type { SubscriptionPage } from '../../../client/index.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { currentLocation, navigate } from '../../ui/location.tsx';
import { useWidth } from '../../ui/use-width.ts';
import { CountsView } from '../counts/counts-view.tsx';
import { ExportMenu } from '../export/export-menu.tsx';
import { describeReport } from '../filters/describe-filters.ts';
import { exportQueryOf, isIncomplete, type ReportState } from '../link/report-state.ts';
import { RefreshOffer } from '../live/refresh-offer.tsx';
import { RecordPanel } from '../record/record-panel.tsx';
import { ShareMenu } from '../share/share-menu.tsx';
import { pagePosition } from '../store/page-position.ts';
import {
  followLink,
  isSame,
  link,
  loaded,
  openings,
  type Place,
  pending,
  refreshReport,
  reportHref,
  subscriptionsPath,
} from '../store/report-store.ts';
import { Pager, turnPage } from '../table/pager.tsx';
import { ReportRows, RowsSkeleton } from '../table/report-rows.tsx';
import { productName } from '../words/product-names.ts';
import { ReportFilterBar } from './filter-bar.tsx';
import { NotFoundNote } from './not-found-note.tsx';
import { ReportBar } from './report-bar.tsx';
import { subscriptionsStrings } from './subscriptions-strings.ts';
import { BadLink, EmailPrompt, ListPrompt } from './unusable-link.tsx';

const text = subscriptionsStrings;

/** The report: filters, what they select, and the record that is open beside it. */
export function SubscriptionsPage() {
  useEffect(followLink, []);
  const parsed = link.value;
  if ('faults' in parsed) return <BadLink faults={parsed.faults} />;
  return <Report state={parsed.state} />;
}

function Report({ state }: { state: ReportState }) {
  const [element, width] = useWidth();
  const shortcuts = useRef([turnKey(']', 'Next page', 1), turnKey('[', 'Previous page', -1)]);
  useShortcuts(shortcuts.current);
  const shown = isIncomplete(state) ? undefined : loaded.value;
  const openId = openRecordId();
  const total = shown && isOneExport(shown.state, state) ? shown.page.totalCount : undefined;
  return (
    <div ref={element} class="report stack gap-3">
      <div class="report-head row">
        <ReportFilterBar state={state} />
        {!isIncomplete(state) && <ShareMenu state={state} />}
        {!isIncomplete(state) && (
          <ExportMenu
            fields={state.fields}
            onFields={(fields) => navigate(reportHref({ ...state, fields }), { replace: true })}
            query={exportQueryOf(state)}
            totalCount={total}
            description={describeReport(state, total, { now: new Date(), productName })}
          />
        )}
      </div>
      {state.asksForEmail && <EmailPrompt state={state} />}
      {!state.asksForEmail && state.asksForList && <ListPrompt state={state} name={state.asksForList} />}
      {!isIncomplete(state) && state.by !== undefined && <CountsView state={state} by={state.by} />}
      {!isIncomplete(state) && state.by === undefined && <ReportBody width={width} openId={openId} />}
      {openId !== undefined && <OpenRecord key="record" id={openId} state={state} />}
    </div>
  );
}

function ReportBody({ width, openId }: { width: number; openId: string | undefined }) {
  const shown = loaded.value;
  const asked = pending.value;
  const isFailed = asked !== undefined && 'error' in asked;
  if (shown === undefined || width === 0)
    return isFailed ? <Failure places={['filters', 'above', 'below']} /> : <RowsSkeleton />;
  const hasPages = shown.page.totalPages > 1;
  return (
    <>
      <Failure places={['filters']} />
      <RefreshOffer load={openings.value} onRefresh={() => refreshReport('above')} />
      <ReportBar report={shown} width={width} isStale={isFailed} />
      {hasPages && <p class="on-paper">{printedRows(shown.page)}</p>}
      <NotFoundNote report={shown} />
      <Failure places={['above']} />
      <ReportRows
        report={shown}
        width={width}
        isLoading={asked !== undefined && !isFailed}
        isStale={isFailed}
        openId={openId}
      />
      <Failure places={['below']} />
      {hasPages && <Pager report={shown} place="below" />}
    </>
  );
}

/** Whether two states have the same export, and so the same number of records. */
const isOneExport = (one: ReportState, other: ReportState): boolean =>
  JSON.stringify(exportQueryOf(one)) === JSON.stringify(exportQueryOf(other));

/** What is on paper, where the pager is not. */
function printedRows(page: SubscriptionPage): string {
  const { number, size } = pagePosition(page);
  const before = (number - 1) * size;
  return text.rowsOf(before + 1, before + page.records.length, page.totalCount);
}

/** Why the page could not be loaded, beside what asked for it. */
function Failure({ places }: { places: readonly Place[] }) {
  const { value } = pending;
  if (value === undefined || !('error' in value) || !places.includes(value.place)) return null;
  return <ErrorNote error={value.error} onRetry={() => refreshReport(value.place)} />;
}

function OpenRecord({ id, state }: { id: string; state: ReportState }) {
  const shown = loaded.value;
  const records = shown !== undefined && isSame(shown.state, state) ? shown.page.records : [];
  const index = records.findIndex((record) => record.id === id);
  const opener = (at: number) => {
    const record = index < 0 ? undefined : records[at];
    return record && (() => navigate(reportHref(state, record.id), { replace: true }));
  };
  return (
    <RecordPanel
      id={id}
      onClose={() => {
        if (openRecordId() !== undefined) navigate(reportHref(state));
      }}
      onPrevious={opener(index - 1)}
      onNext={opener(index + 1)}
    />
  );
}

/** The id in the path, if a record is open. */
function openRecordId(): string | undefined {
  const id = currentLocation.value.path.slice(subscriptionsPath.length + 1);
  if (id === '') return undefined;
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // no record has such an id, and the panel says so
  }
}

const turnKey = (key: string, label: string, step: -1 | 1) => ({
  key,
  label,
  run: () => {
    if (loaded.value !== undefined) turnPage(loaded.value, step, 'above');
  },
});
