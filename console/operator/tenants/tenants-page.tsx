import { Building2, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import type { Tenant } from '../../../src/contract/operator/tenant.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { currentLocation, Link } from '../../ui/location.tsx';
import { LastImportResult } from '../imports/import-result.tsx';
import { ActionButton } from '../parts/action-button.tsx';
import type { Column } from '../parts/data-table.tsx';
import { ListView } from '../parts/list-view.tsx';
import { itemOf, tenantPath } from '../parts/paths.ts';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { CreateTenant } from './create-tenant.tsx';
import { TenantPage } from './tenant-page.tsx';

const { tenants: texts } = strings;

const columns: readonly Column<Tenant>[] = [
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
    cell: ({ last_import: last }) => <LastImportResult last={last} focusable={false} />,
  },
  {
    label: strings.imports.rejected,
    isNumber: true,
    cell: ({ last_import: last }) => countOr(last?.rejected),
  },
  { label: texts.lastGoodImport, cell: ({ last_good_import_at: at }) => <DateTime value={at} focusable={false} /> },
  { label: strings.created, cell: ({ created_at: at }) => <DateTime value={at} focusable={false} /> },
];

/** All tenants, or the one of the address. */
export function TenantsPage() {
  const tenant = itemOf(currentLocation.value.path);
  return tenant === undefined ? <AllTenants /> : <TenantPage key={tenant} tenant={tenant} />;
}

/** A count, if it is known: an import that still runs has none. */
const countOr = (count: number | null | undefined): string => (count == null ? strings.noValue : formatCount(count));

function AllTenants() {
  const list = useList('listTenants');
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
        columns={columns}
        keyOf={({ tenant }) => tenant}
        empty={{ icon: Building2, title: texts.none, text: texts.noneHint }}
      />
      {isCreating && <CreateTenant onClose={() => setCreating(false)} />}
    </>
  );
}
