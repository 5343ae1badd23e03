import { useState } from 'preact/hooks';
import type { Tenant } from '../../../contract/operator/tenant.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Building2, Plus } from '../../ui/icons.ts';
import { currentLocation, Link, navigate } from '../../ui/location.tsx';
import { LastImportResult } from '../imports/import-result.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { itemOf, tenantPath } from '../parts/paths.ts';
import { filterList, useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { TenantPage } from './tenant-page.tsx';

const { tenants: texts } = strings;

const columns: readonly Column<Tenant>[] = [
  {
    label: texts.name,
    sortValue: ({ tenant }) => tenant,
    cell: ({ tenant, deleting_since: deleting }) => (
      <>
        <Link href={tenantPath(tenant)}>{tenant}</Link>
        {deleting !== null && <span class="soft"> being deleted</span>}
      </>
    ),
  },
  {
    label: strings.records,
    isNumber: true,
    sortValue: ({ records }) => records,
    cell: ({ records }) => formatCount(records),
  },
  {
    label: texts.lastImport,
    sortValue: ({ last_import: last }) => last?.started_at,
    cell: ({ last_import: last }) => <LastImportResult last={last} focusable={false} />,
  },
  {
    label: texts.lastGoodImport,
    sortValue: ({ last_good_import_at: at }) => at,
    cell: ({ last_good_import_at: at }) => <DateTime value={at} focusable={false} />,
  },
  {
    label: strings.created,
    sortValue: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <DateTime value={at} focusable={false} />,
  },
];

/** All tenants, or the one of the address. */
export function TenantsPage() {
  const tenant = itemOf(currentLocation.value.path);
  return tenant === undefined ? <AllTenants /> : <TenantPage key={tenant} tenant={tenant} />;
}

/** Tenants that are read at first; those are searched, sorted and added up here. */
const readAtOnce = 1_000;

const sumOf = (tenants: readonly Tenant[]): number => tenants.reduce((sum, { records }) => sum + records, 0);

function AllTenants() {
  const list = useList('listTenants', {}, { first: readAtOnce });
  const [typed, setTyped] = useState('');
  const found = filterList(list, ({ tenant }) => tenant.includes(typed.trim().toLowerCase()));
  const all = list.items?.length ?? 0;
  return (
    <>
      <div class="toolbar row gap-3">
        <div class="search">
          <TextField
            type="search"
            label="Search by name"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
          />
        </div>
        {found.items !== undefined && (
          <p class="soft" role="status">
            {texts.sum(found.items.length, all, sumOf(found.items), list.hasMore === true)}
          </p>
        )}
        <DialogButton
          permission="createTenant"
          variant="primary"
          icon={Plus}
          dialog={(close) => (
            <OperationDialog
              operation="createTenant"
              title={texts.create}
              submit={texts.create}
              rows={{
                tenant: {
                  label: texts.name,
                  hint: '1 to 63 characters: a-z, 0-9 and -, beginning with a letter or digit, such as acme',
                  isRequired: true,
                },
              }}
              onDone={({ tenant }) => navigate(tenantPath(tenant))}
              onClose={close}
            />
          )}
        >
          {texts.create}
        </DialogButton>
      </div>
      <ListView
        label={texts.title}
        list={found}
        columns={columns}
        keyOf={({ tenant }) => tenant}
        empty={
          all === 0
            ? { icon: Building2, title: texts.none, text: texts.noneHint }
            : { icon: Building2, title: texts.noneFound(list.hasMore === true, all) }
        }
      />
    </>
  );
}
