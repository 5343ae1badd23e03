import { useState } from 'preact/hooks';
import type { Tenant, TenantStorage } from '../../../contract/operator/tenant.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { announce } from '../../ui/live-region.tsx';
import { navigate } from '../../ui/location.tsx';
import { ClientsCard } from '../clients/clients-card.tsx';
import { ImportForm } from '../imports/import-form.tsx';
import { LastImportResult } from '../imports/import-result.tsx';
import { ImportsCard } from '../imports/imports-card.tsx';
import { DangerZone, Destruction } from '../parts/danger-zone.tsx';
import { Detail } from '../parts/detail.tsx';
import { Figures } from '../parts/figures.tsx';
import { formatBytes } from '../parts/format-bytes.ts';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { strings } from '../strings.ts';
import { EraseRecords } from './erase-records.tsx';

const { tenants: texts } = strings;

/** One tenant: its records, clients and imports, and what removes them. */
export function TenantPage({ tenant: name }: { tenant: string }) {
  const [loads, setLoads] = useState(0);
  return (
    <Detail
      operation="getTenant"
      params={{ tenant: name }}
      list={['/console/tenants', texts.title]}
      titleOf={() => name}
    >
      {(tenant, reload) => (
        <>
          <TenantFigures tenant={tenant} />
          {tenant.deleting_since !== null && (
            <p class="warning-note">
              This tenant is being deleted. If the deletion stops, delete the tenant again: the deletion continues.
            </p>
          )}
          <Card title={strings.imports.load}>
            <ImportForm
              tenant={name}
              saved={tenant.columns}
              onLoaded={() => {
                reload();
                setLoads((count) => count + 1);
              }}
            />
          </Card>
          <ClientsCard tenant={name} />
          <ImportsCard tenant={name} changes={loads} />
          <DangerZone>
            <EraseRecords tenant={name} onErased={reload} />
            <DeleteTenant tenant={tenant} />
          </DangerZone>
        </>
      )}
    </Detail>
  );
}

const storageText = ({ total, budget }: TenantStorage): string =>
  budget === null ? formatBytes(total) : texts.ofBudget(formatBytes(total), formatBytes(budget));

const TenantFigures = ({ tenant }: { tenant: Tenant }) => (
  <Figures
    figures={{
      [strings.records]: formatCount(tenant.records),
      [texts.lastImport]: <LastImportResult last={tenant.last_import} focusable />,
      [texts.lastGoodImport]: <DateTime value={tenant.last_good_import_at} />,
      [strings.created]: <DateTime value={tenant.created_at} />,
      Storage: storageText(tenant.storage),
    }}
  />
);

const DeleteTenant = ({ tenant: { tenant, records } }: { tenant: Tenant }) => (
  <Destruction
    permission="deleteTenant"
    title="Delete tenant"
    text="Deletes the tenant with its clients and records. This cannot be undone."
    dialog={(close) => (
      <OperationDialog
        operation="deleteTenant"
        params={{ tenant }}
        title={texts.deletion.question(tenant)}
        submit={strings.deleteForGood}
        typed={tenant}
        onDone={({ clients }) => {
          announce(texts.deletion.done(tenant, clients));
          navigate('/console/tenants');
        }}
        onClose={close}
      >
        <p>{texts.deletion.effect(records)}</p>
      </OperationDialog>
    )}
  />
);
