import type { Subscription } from '../../../src/client/index.ts';
import { StatusLabel } from '../../ui/status-label.tsx';
import { strings } from '../strings.ts';
import { EndDate, IccidButton, isRenewed, RecordLink } from './record-parts.tsx';
import type { ReportState } from './report-state.ts';
import { reportHref } from './report-store.ts';
import { openRow } from './report-table.tsx';

const text = strings.subscriptions;

interface RecordListProps {
  readonly records: readonly Subscription[];
  readonly state: ReportState;
  readonly currentId: string | undefined;
  readonly openId: string | undefined;
}

/** The records in two lines each, where a table has no room. */
export function RecordList({ records, state, currentId, openId }: RecordListProps) {
  const now = Date.now();
  return (
    <ul class="record-list" aria-label={text.table}>
      {records.map((record) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the link of the row has the keys
        <li
          key={record.id}
          data-row={record.id}
          data-open={record.id === openId || undefined}
          onClick={(event) => openRow(event, reportHref(state, record.id))}
        >
          <div class="record-line">
            <RecordLink record={record} href={reportHref(state, record.id)} isCurrent={record.id === currentId} />
            <StatusLabel status={record.status ?? null} />
          </div>
          <div class="record-line soft">
            <IccidButton record={record} isCurrent={record.id === currentId} isFull={false} />
            <span>
              {Date.parse(record.expirationDate) > now ? text.endsWord : text.endedWord}{' '}
              <EndDate record={record} isCurrent={record.id === currentId} now={now} />
              {isRenewed(record) && `, ${text.renews.true}`}
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}
