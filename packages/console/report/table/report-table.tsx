import type { ReadonlySignal } from '@preact/signals';
import type { Subscription, SubscriptionSort } from '../../../client/index.ts';
import { readFields } from '../../../contract/fields.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ArrowDown, ArrowUp, ChevronsUpDown } from '../../ui/icons.ts';
import { navigate } from '../../ui/location.tsx';
import { StatusLabel } from '../../ui/status-label.tsx';
import type { ReportState } from '../link/report-state.ts';
import { shownTime } from '../past/as-of.ts';
import { reportHref, showReport } from '../store/report-store.ts';
import { wordStrings } from '../words/word-strings.ts';
import { columnChoices } from './column-choices.ts';
import { type ColumnId, choicesOf, columns, fitColumns, labelOf } from './columns.ts';
import { EndDate, IccidButton, isRenewed, RecordLink } from './record-parts.tsx';
import { tableStrings } from './table-strings.ts';
import { useIsCurrent } from './use-rows.ts';

const text = tableStrings;

interface ReportTableProps {
  readonly records: readonly Subscription[];
  /** The state whose records these are. */
  readonly state: ReportState;
  readonly width: number;
  /** The record whose controls are tab stops. */
  readonly currentId: ReadonlySignal<string | undefined>;
  /** The record that is open beside the table. */
  readonly openId: string | undefined;
}

/** The records as a table with the columns that fit. */
export function ReportTable({ records, state, width, currentId, openId }: ReportTableProps) {
  const choices = state.fields === undefined ? columnChoices.value : choicesOf(readFields(state.fields).fields);
  const { widths, isIccidFull } = fitColumns(width, choices);
  const ids = [...widths.keys()];
  const context = { ids, state, isIccidFull, now: shownTime().getTime() };
  return (
    <table class="report-table" aria-label={text.table}>
      <colgroup>
        {[...widths].map(([id, wide]) => (
          <col key={id} class={`column-${id}`} style={id === 'product' ? {} : { width: `${wide}px` }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {ids.map((id) => (
            <Heading key={id} id={id} state={state} />
          ))}
        </tr>
      </thead>
      <tbody>
        {/* by position: another page changes the texts of the rows and keeps their elements */}
        {records.map((record, index) => (
          <Row key={index} record={record} isOpen={record.id === openId} currentId={currentId} {...context} />
        ))}
      </tbody>
    </table>
  );
}

/** The name of a column; that of a date sorts the report. */
function Heading({ id, state }: { readonly id: ColumnId; readonly state: ReportState }) {
  const { date } = columns[id];
  if (date === undefined) return <th scope="col">{labelOf(id)}</th>;
  const isAscending = state.sort === date;
  const isDescending = state.sort === `-${date}`;
  const sort = (isAscending ? `-${date}` : date) as SubscriptionSort;
  return (
    <th scope="col" aria-sort={isAscending ? 'ascending' : isDescending ? 'descending' : undefined}>
      <button type="button" class="sort bare" onClick={() => showReport({ ...state, sort, page: undefined }, 'above')}>
        {labelOf(id)}
        <Icon icon={isAscending ? ArrowUp : isDescending ? ArrowDown : ChevronsUpDown} size={14} />
      </button>
    </th>
  );
}

interface RowContext {
  readonly state: ReportState;
  readonly isIccidFull: boolean;
  readonly now: number;
}

interface RowProps extends RowContext, Pick<ReportTableProps, 'currentId'> {
  readonly record: Subscription;
  readonly ids: readonly ColumnId[];
  readonly isOpen: boolean;
}

/** A row of its own, so that moving the focus draws two rows again and not the table. */
function Row({ record, ids, isOpen, currentId, ...context }: RowProps) {
  const isCurrent = useIsCurrent(currentId, record.id);
  return (
    <tr
      data-row={record.id}
      data-open={isOpen || undefined}
      onClick={(event) => openRow(event, reportHref(context.state, record.id))}
    >
      {ids.map((id) => (
        <td key={id} class={`column-${id}`}>
          {cells[id](record, { ...context, isCurrent })}
        </td>
      ))}
    </tr>
  );
}

interface CellContext extends RowContext {
  readonly isCurrent: boolean;
}

const cells: { readonly [Id in ColumnId]: (record: Subscription, context: CellContext) => preact.ComponentChildren } = {
  status: ({ status }) => <StatusLabel status={status ?? null} />,
  product: (record, { state, isCurrent }) => (
    <RecordLink record={record} href={reportHref(state, record.id)} isCurrent={isCurrent} />
  ),
  iccid: (record, { isIccidFull, isCurrent }) => (
    <IccidButton record={record} isCurrent={isCurrent} isFull={isIccidFull} />
  ),
  device: ({ device_id }) => <bdi title={device_id}>{device_id}</bdi>,
  plan: ({ product }) => <bdi title={product.plan_id}>{product.plan_id}</bdi>,
  created: ({ createdDate }, { isCurrent }) => <DateTime value={createdDate} focusable={isCurrent} />,
  activated: ({ activationDate }, { isCurrent }) => <DateTime value={activationDate} focusable={isCurrent} />,
  ends: (record, { isCurrent, now }) => <EndDate record={record} isCurrent={isCurrent} now={now} />,
  renews: (record) => (isRenewed(record) ? wordStrings.yes : <span class="soft">{wordStrings.no}</span>),
  id: ({ id }) => <code title={id}>{id}</code>,
};

/** A click in a row opens its record, unless it was for a control or to select text. */
export function openRow(event: MouseEvent, href: string): void {
  const isOnControl = event.target instanceof Element && event.target.closest('a, button') !== null;
  if (!isOnControl && window.getSelection()?.isCollapsed !== false) navigate(href);
}
