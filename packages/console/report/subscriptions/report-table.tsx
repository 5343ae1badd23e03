import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Subscription } from '../../../client/index.ts';
import { readFields } from '../../../contract/fields.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ArrowDown, ArrowUp, ChevronsUpDown } from '../../ui/icons.ts';
import { navigate } from '../../ui/location.tsx';
import { StatusLabel } from '../../ui/status-label.tsx';
import { shownTime } from '../past/as-of.ts';
import { strings } from '../strings.ts';
import { columnChoices } from './column-choices.ts';
import { type ColumnId, choicesOf, columnIds, fitColumns } from './fit-columns.ts';
import { EndDate, IccidButton, isRenewed, RecordLink } from './record-parts.tsx';
import { createTable, sortingOf, sortOf, type TableRow } from './report-columns.ts';
import type { ReportState } from './report-state.ts';
import { reportHref, showReport } from './report-store.ts';

const text = strings.subscriptions;

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
  const [table] = useState(createTable);
  const { widths, isIccidFull } = fitColumns(
    width,
    state.fields === undefined ? columnChoices.value : choicesOf(readFields(state.fields).fields),
  );
  table.setOptions((options) => ({
    ...options,
    data: records,
    state: {
      columnVisibility: Object.fromEntries(columnIds.map((id) => [id, widths.has(id)])),
      sorting: sortingOf(state.sort),
    },
    onSortingChange: (change) => {
      const sorting = typeof change === 'function' ? change(sortingOf(state.sort)) : change;
      showReport({ ...state, sort: sortOf(sorting), page: undefined }, 'above');
    },
  }));
  const context = { state, isIccidFull, now: shownTime().getTime() };
  return (
    <table class="report-table" aria-label={text.table}>
      <colgroup>
        {[...widths].map(([id, wide]) => (
          <col key={id} class={`column-${id}`} style={id === 'product' ? {} : { width: `${wide}px` }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {table.getLeafHeaders().map(({ column }) => (
            <th key={column.id} scope="col" aria-sort={ariaSortOf(column.getIsSorted())}>
              {column.getCanSort() ? (
                <button type="button" class="sort" onClick={() => column.toggleSorting()}>
                  {text.column[column.id as ColumnId]}
                  <Icon icon={sortIcon(column.getIsSorted())} size={14} />
                </button>
              ) : (
                text.column[column.id as ColumnId]
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {/* by position: another page changes the texts of the rows and keeps their elements */}
        {table.getRowModel().rows.map((row, index) => (
          <Row key={index} row={row} isOpen={row.id === openId} currentId={currentId} {...context} />
        ))}
      </tbody>
    </table>
  );
}

interface RowContext {
  readonly state: ReportState;
  readonly isIccidFull: boolean;
  readonly now: number;
}

interface RowProps extends RowContext, Pick<ReportTableProps, 'currentId'> {
  readonly row: TableRow;
  readonly isOpen: boolean;
}

/** A row of its own, so that moving the focus draws two rows again and not the table. */
function Row({ row, isOpen, currentId, ...context }: RowProps) {
  const isCurrent = useComputed(() => currentId.value === row.id).value;
  return (
    <tr
      data-row={row.id}
      data-open={isOpen || undefined}
      onClick={(event) => openRow(event, reportHref(context.state, row.id))}
    >
      {row.getVisibleCells().map((cell) => (
        <td key={cell.column.id} class={`column-${cell.column.id}`}>
          {cells[cell.column.id as ColumnId](row.original, { ...context, isCurrent })}
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
  renews: (record) => (isRenewed(record) ? text.yes : <span class="soft">{text.no}</span>),
  id: ({ id }) => <code title={id}>{id}</code>,
};

const sortIcon = (sorted: false | 'asc' | 'desc') =>
  sorted === false ? ChevronsUpDown : sorted === 'asc' ? ArrowUp : ArrowDown;

const ariaSortOf = (sorted: false | 'asc' | 'desc') =>
  sorted === false ? undefined : sorted === 'asc' ? 'ascending' : 'descending';

/** A click in a row opens its record, unless it was for a control or to select text. */
export function openRow(event: MouseEvent, href: string): void {
  const isOnControl = event.target instanceof Element && event.target.closest('a, button') !== null;
  if (!isOnControl && window.getSelection()?.isCollapsed !== false) navigate(href);
}
