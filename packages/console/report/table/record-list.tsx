import type { ReadonlySignal } from '@preact/signals';
import type { Subscription } from '../../../client/index.ts';
import { StatusLabel } from '../../ui/status-label.tsx';
import { filterStrings } from '../filters/filter-strings.ts';
import type { ReportState } from '../link/report-state.ts';
import { shownTime } from '../past/as-of.ts';
import { reportHref } from '../store/report-store.ts';
import { EndDate, IccidButton, isRenewed, RecordLink } from './record-parts.tsx';
import { openRow } from './report-table.tsx';
import { tableStrings } from './table-strings.ts';
import { useIsCurrent } from './use-rows.ts';

const text = tableStrings;

interface RecordListProps {
  readonly records: readonly Subscription[];
  readonly state: ReportState;
  readonly currentId: ReadonlySignal<string | undefined>;
  readonly openId: string | undefined;
}

/** The records in two lines each, where a table has no room. */
export const RecordList = ({ records, ...rest }: RecordListProps) => (
  <ul class="record-list" aria-label={text.table}>
    {records.map((record, index) => (
      <RecordLines key={index} record={record} now={shownTime().getTime()} {...rest} />
    ))}
  </ul>
);

type LineProps = Omit<RecordListProps, 'records'> & { record: Subscription; now: number };

function RecordLines({ record, state, currentId, openId, now }: LineProps) {
  const isCurrent = useIsCurrent(currentId, record.id);
  const href = reportHref(state, record.id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link of the row has the keys
    <li data-row={record.id} data-open={record.id === openId || undefined} onClick={(event) => openRow(event, href)}>
      <div class="record-line spread">
        <RecordLink record={record} href={href} isCurrent={isCurrent} />
        <StatusLabel status={record.status ?? null} />
      </div>
      <div class="record-line spread soft" data-part="card">
        <IccidButton record={record} isCurrent={isCurrent} isFull={false} />
        <span>
          {Date.parse(record.expirationDate) > now ? 'ends' : 'ended'}{' '}
          <EndDate record={record} isCurrent={isCurrent} now={now} />
          {isRenewed(record) && `, ${filterStrings.renews.true}`}
        </span>
      </div>
    </li>
  );
}
