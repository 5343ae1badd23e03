import { Building2, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import type { Tenant } from '../../../src/contract/operator-tenant.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { currentLocation, Link } from '../../ui/location.tsx';
import { call } from '../call.ts';
import { ImportResult } from '../imports/import-result.tsx';
import { startedAt } from '../imports/started-at.ts';
import { ActionButton } from '../parts/action-button.tsx';
import type { Column } from '../parts/data-table.tsx';
import { ListView } from '../parts/list-view.tsx';
import { itemOf, tenantPath } from '../parts/paths.ts';
import { useList } from '../parts/use-list.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { CreateTenant } from './create-tenant.tsx';
import { TenantPage } from './tenant-page.tsx';

const { tenants: texts } = strings;

/** Rows that the last import of each tenant rejected, by its id. */
type Rejections = ReadonlyMap<string, number | null>;

const columnsOf = (rejections: Rejections): readonly Column<Tenant>[] => [
  {
    label: texts.name,
    cell: ({ tenant, deleting_since: deleting }) => (
      <>
        <Link href={tenantPath(tenant)}>{tenant}</Link>
        {deleting !== null && <span class="soft"> {texts.deleting}</span>}
      </>
    ),
  },
  { label: strings.records, isNumber: true, cell: ({ records }) => formatCount(records) },
  {
    label: texts.lastImport,
    cell: ({ last_import_id: id, last_import_result: result }) =>
      id === null ? <span class="soft">{texts.neverImported}</span> : <LastImport id={id} result={result} />,
  },
  {
    label: strings.imports.rejected,
    isNumber: true,
    cell: ({ last_import_id: id }) => countOr(rejections.get(id ?? '')),
  },
  { label: texts.lastGoodImport, cell: ({ last_good_import_at: at }) => <DateTime value={at} focusable={false} /> },
  { label: strings.created, cell: ({ created_at: at }) => <DateTime value={at} focusable={false} /> },
];

/** All tenants, or the one of the address. */
export function TenantsPage() {
  const tenant = itemOf(currentLocation.value.path);
  return tenant === undefined ? <AllTenants /> : <TenantPage key={tenant} tenant={tenant} />;
}

/** A count, if it is known: an import that still runs or is no longer in the history has none. */
const countOr = (count: number | null | undefined): string => (count == null ? strings.noValue : formatCount(count));

const LastImport = ({ id, result }: { id: string; result: Tenant['last_import_result'] }) => (
  <>
    <ImportResult id={id} result={result} /> <DateTime value={startedAt(id)} focusable={false} />
  </>
);

/** The rows that the newest imports rejected: those of the last imports of most tenants. */
function useRejections(): Rejections {
  const { value } = useResource('newest imports', (signal) => call('listImports', { query: { limit: 100 }, signal }));
  return new Map(value?.data.map(({ id, rejected }) => [id, rejected]));
}

function AllTenants() {
  const list = useList('listTenants');
  const rejections = useRejections();
  const [isCreating, setCreating] = useState(false);
  const create = (
    <ActionButton permission="createTenant" variant="primary" icon={Plus} onClick={() => setCreating(true)}>
      {texts.create}
    </ActionButton>
  );
  return (
    <>
      <div class="toolbar">{create}</div>
      <ListView
        label={texts.title}
        list={list}
        columns={columnsOf(rejections)}
        keyOf={({ tenant }) => tenant}
        empty={{ icon: Building2, title: texts.none, text: texts.noneHint }}
      />
      {isCreating && <CreateTenant onClose={() => setCreating(false)} />}
    </>
  );
}
