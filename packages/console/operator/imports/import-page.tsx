import type { Import } from '../../../contract/operator/import.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { Link } from '../../ui/location.tsx';
import { readRejectedRows } from '../call.ts';
import { DefinitionList } from '../parts/definition-list.tsx';
import { Detail } from '../parts/detail.tsx';
import { formatSecond } from '../parts/format-time.ts';
import { tenantPath } from '../parts/paths.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import type { Mapping } from './column-choices.ts';
import { starterOf } from './import-columns.tsx';
import { ImportState } from './import-result.tsx';
import { RejectedRows } from './rejected-rows.tsx';
import { runningPollMs } from './running-poll.ts';

const { imports: texts } = strings;

/** One import of the history with its rejected rows. */
export const ImportPage = ({ id }: { id: string }) => (
  <Detail
    operation="getImport"
    params={{ import_id: id }}
    everyMs={runningPollMs}
    list={['/console/imports', texts.title]}
    titleOf={(value) => (value === undefined ? id : texts.one(value.tenant, formatMinute(value.started_at)))}
  >
    {(value) => (
      <>
        {value.error !== null && <p class="warning-note">{value.error}</p>}
        <div class="columns">
          <ImportProperties value={value} />
          <Card title={texts.rows}>
            <DefinitionList
              values={Object.fromEntries(counts.map((name) => [texts[name], formatKnown(value[name])]))}
            />
          </Card>
        </div>
        {(value.rejected ?? 0) > 0 && <StoredRejectedRows id={id} rejected={value.rejected ?? 0} />}
      </>
    )}
  </Detail>
);

const counts = ['read', 'accepted', 'rejected', 'inserted', 'updated', 'unchanged', 'removed', 'revision'] as const;

const formatKnown = (count: number | null): string => (count === null ? strings.noValue : formatCount(count));

const ImportProperties = ({ value }: { value: Import }) => (
  <Card title="Properties">
    <DefinitionList
      values={{
        [texts.result]: <ImportState value={value} />,
        [strings.tenant]: <Link href={tenantPath(value.tenant)}>{value.tenant}</Link>,
        [texts.started]: <DateTime value={value.started_at} text={formatSecond(value.started_at)} />,
        Ended: (
          <DateTime value={value.ended_at} text={value.ended_at === null ? undefined : formatSecond(value.ended_at)} />
        ),
        [texts.starter]: `${starterOf(value)} (${texts.starters[value.actor.kind]})`,
        [texts.address]: value.address ?? strings.noValue,
        [texts.format]: texts.formats[value.format],
        [texts.options]: value.options.join(', ') || strings.noValue,
        ...(value.columns !== null && { [texts.form.columns.title]: <MappingLines json={value.columns} /> }),
        [texts.id]: <code>{value.id}</code>,
      }}
    />
  </Card>
);

/** Which column was which field, the values of all rows, and what values meant. */
function MappingLines({ json }: { json: string }) {
  const { columns = {}, constants = {}, values = {} }: Mapping = JSON.parse(json);
  const lines = [
    ...Object.entries(columns).map(([field, column]) => `${field}: ${column}`),
    ...Object.entries(constants).map(([field, value]) => `${field} = "${value}"`),
    ...Object.entries(values).flatMap(([field, meanings]) =>
      Object.entries(meanings).map(([value, meaning]) => `${field}: "${value}" = "${meaning}"`),
    ),
  ];
  return (
    <>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </>
  );
}

function StoredRejectedRows({ id, rejected }: { id: string; rejected: number }) {
  const { value, error, reload } = useResource(id, (signal) => readRejectedRows(id, signal));
  if (error !== undefined) return <ErrorNote error={error} onRetry={reload} />;
  return (
    <Card title={texts.rejectedTitle}>
      {value !== undefined && <RejectedRows id={id} rows={value} rejected={rejected} />}
    </Card>
  );
}
