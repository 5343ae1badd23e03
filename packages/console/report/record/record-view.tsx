import { StatusLabel } from '../../ui/status-label.tsx';
import { RecordHistory } from '../history/record-history.tsx';
import { asOf, shownTime } from '../past/as-of.ts';
import { recordCommand } from '../source/curl-command.ts';
import { SourceText } from '../source/source-text.tsx';
import { DateList } from './date-list.tsx';
import type { ReadRecord } from './read-record.ts';
import { RecordFields } from './record-fields.tsx';
import { recordStrings } from './record-strings.ts';
import { RelatedRecords } from './related-records.tsx';

const text = recordStrings;

/** Everything about a record. */
export function RecordView({ record, json }: ReadRecord) {
  const { status = null } = record;
  return (
    <div class="record stack">
      <div class="record-status stack gap-1">
        <StatusLabel status={status} />
        <p class="soft">{meaningOf(status)}</p>
      </div>
      <DateList record={record} now={shownTime()} />
      <RecordFields record={record} />
      <RelatedRecords record={record} />
      {/* after the links, which it would move when it has been read */}
      <RecordHistory id={record.id} />
      <SourceText
        title="Command for curl"
        what={text.copyCurl}
        source={recordCommand(window.location.origin, record.id, asOf.value?.instant)}
        hint={text.curlHint}
      />
      <SourceText title={text.json} what={text.json} source={json} />
    </div>
  );
}

function meaningOf(status: string | null): string {
  if (status === null) return 'This subscription has no status.';
  const known: Readonly<Record<string, string>> = text.meaning;
  return (
    (Object.hasOwn(known, status) ? known[status] : undefined) ?? 'This console has no description of this status.'
  );
}
