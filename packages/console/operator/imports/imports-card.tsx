import { useEffect } from 'preact/hooks';
import { Card } from '../../ui/card.tsx';
import { Upload } from '../../ui/icons.ts';
import { Link } from '../../ui/location.tsx';
import { ListView } from '../parts/list-view.tsx';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { importColumns } from './import-columns.tsx';
import { runningPollMs } from './running-poll.ts';

const { imports: texts } = strings;

/** The imports of a tenant; read again when `revision` or `attempt` changes. */
export function ImportsCard({ tenant, changes }: { tenant: string; changes: number }) {
  const list = useList('listImports', { tenant }, { everyMs: runningPollMs, first: 5 });
  const { reload } = list;
  useEffect(reload, [reload, changes]);
  return (
    <Card
      title={texts.history}
      actions={<Link href={`/console/imports?tenant=${encodeURIComponent(tenant)}`}>{texts.all}</Link>}
    >
      <ListView
        label={texts.history}
        list={list}
        columns={importColumns.filter(({ label }) => label !== strings.tenant)}
        keyOf={({ id }) => id}
        empty={{ icon: Upload, title: texts.none, text: texts.noneHint }}
      />
    </Card>
  );
}
