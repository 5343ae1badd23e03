import type { Import } from '../../../contract/operator/import.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { Link } from '../../ui/location.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call, readRejectedRows } from '../call.ts';
import { Crumbs } from '../parts/crumbs.tsx';
import { DefinitionList } from '../parts/definition-list.tsx';
import { formatSecond } from '../parts/format-time.ts';
import { tenantPath } from '../parts/paths.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { starterOf } from './import-columns.tsx';
import { ImportState } from './import-result.tsx';
import { RejectedRows } from './rejected-rows.tsx';
import { runningPollMs } from './running-poll.ts';

const { imports: texts } = strings;

/** One import of the history with its rejected rows. */
export function ImportPage({ id }: { id: string }) {
  const params = { import_id: id };
  const { value, error, reload } = useResource(
    id,
    (signal, isBackground) => call('getImport', { params, signal, isBackground }),
    { everyMs: runningPollMs },
  );
  return (
    <>
      <Crumbs
        parent={{ href: '/console/imports', label: strings.all(texts.title) }}
        title={value === undefined ? id : texts.one(value.tenant, formatMinute(value.started_at))}
      />
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {value === undefined && error === undefined && (
        <Loading>
          <Skeleton height="12em" />
        </Loading>
      )}
      {value !== undefined && (
        <>
          {value.error !== null && <p class="warning-note">{value.error}</p>}
          <div class="columns">
            <ImportProperties value={value} />
            <ImportCounts value={value} />
          </div>
          {(value.rejected ?? 0) > 0 && <StoredRejectedRows id={id} rejected={value.rejected ?? 0} />}
        </>
      )}
    </>
  );
}

const ImportProperties = ({ value }: { value: Import }) => (
  <Card title={texts.properties}>
    <DefinitionList
      rows={[
        [texts.result, <ImportState key="result" value={value} />],
        [
          strings.tenant,
          <Link key="tenant" href={tenantPath(value.tenant)}>
            {value.tenant}
          </Link>,
        ],
        [texts.started, <DateTime key="start" value={value.started_at} text={formatSecond(value.started_at)} />],
        [
          texts.ended,
          <DateTime
            key="end"
            value={value.ended_at}
            text={value.ended_at === null ? undefined : formatSecond(value.ended_at)}
          />,
        ],
        [texts.starter, `${starterOf(value)} (${texts.starters[value.actor.kind]})`],
        [texts.address, value.address ?? strings.noValue],
        [texts.format, texts.formats[value.format]],
        [texts.options, value.options.join(', ') || strings.noValue],
        ...(value.columns === null
          ? []
          : [[texts.form.columns.title, <Mapping key="columns" json={value.columns} />] as const]),
        [texts.id, <code key="id">{value.id}</code>],
      ]}
    />
  </Card>
);

/** Which column was which field, and the values of all rows. */
function Mapping({ json }: { json: string }) {
  const { columns = {}, constants = {} } = JSON.parse(json) as Record<string, Record<string, string>>;
  const lines = [
    ...Object.entries(columns).map(([field, column]) => `${field}: ${column}`),
    ...Object.entries(constants).map(([field, value]) => `${field} = "${value}"`),
  ];
  return (
    <>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </>
  );
}

const ImportCounts = ({ value }: { value: Import }) => (
  <Card title={texts.rows}>
    <DefinitionList
      rows={(['read', 'accepted', 'rejected', 'inserted', 'updated', 'unchanged', 'removed', 'revision'] as const).map(
        (name) => [texts[name], value[name] === null ? strings.noValue : formatCount(value[name])],
      )}
    />
  </Card>
);

function StoredRejectedRows({ id, rejected }: { id: string; rejected: number }) {
  const { value, error, reload } = useResource(id, (signal) => readRejectedRows(id, signal));
  if (error !== undefined) return <ErrorNote error={error} onRetry={reload} />;
  return (
    <Card title={texts.rejectedTitle}>
      {value !== undefined && <RejectedRows id={id} lines={value} rejected={rejected} />}
    </Card>
  );
}
