import { useCallback, useState } from 'preact/hooks';
import type { Tenant, TenantStorage } from '../../../contract/operator/tenant.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format-count.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call } from '../call.ts';
import { ClientsCard } from '../clients/clients-card.tsx';
import { ImportForm } from '../imports/import-form.tsx';
import { LastImportResult } from '../imports/import-result.tsx';
import { ImportsCard } from '../imports/imports-card.tsx';
import { Crumbs } from '../parts/crumbs.tsx';
import { DangerZone } from '../parts/danger-zone.tsx';
import { Figures } from '../parts/figures.tsx';
import { formatBytes } from '../parts/format-bytes.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { DeleteTenant } from './delete-tenant.tsx';
import { EraseRecords } from './erase-records.tsx';

const { tenants: texts } = strings;

/** One tenant: its records, clients, and imports or origin, and what removes them. */
export function TenantPage({ tenant: name }: { tenant: string }) {
  const [loads, setLoads] = useState(0);
  const params = { tenant: name };
  const {
    value: tenant,
    error,
    reload,
  } = useResource(name, (signal, isBackground) => call('getTenant', { params, signal, isBackground }));
  const onLoaded = useCallback(() => {
    reload();
    setLoads((count) => count + 1);
  }, [reload]);
  return (
    <>
      <Crumbs parent={{ href: '/console/tenants', label: strings.all(texts.title) }} title={name} />
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {tenant === undefined && error === undefined && (
        <Loading>
          <Skeleton height="5em" />
        </Loading>
      )}
      {tenant !== undefined && (
        <>
          <TenantFigures tenant={tenant} />
          {tenant.deleting_since !== null && <p class="warning-note">{texts.deletingHint}</p>}
          <Card title={strings.imports.load}>
            <ImportForm tenant={name} saved={tenant.columns} onLoaded={onLoaded} />
          </Card>
          <ClientsCard tenant={name} />
          <ImportsCard tenant={name} changes={loads} />
          <DangerZone>
            <EraseRecords tenant={name} onErased={reload} />
            <DeleteTenant tenant={tenant} />
          </DangerZone>
        </>
      )}
    </>
  );
}

const storageText = ({ total, budget }: TenantStorage): string =>
  budget === null ? formatBytes(total) : texts.ofBudget(formatBytes(total), formatBytes(budget));

const TenantFigures = ({ tenant }: { tenant: Tenant }) => (
  <Figures
    figures={[
      { label: strings.records, value: formatCount(tenant.records) },
      {
        label: texts.lastImport,
        value: <LastImportResult last={tenant.last_import} focusable />,
      },
      { label: texts.lastGoodImport, value: <DateTime value={tenant.last_good_import_at} /> },
      { label: strings.created, value: <DateTime value={tenant.created_at} /> },
      { label: texts.storage, value: storageText(tenant.storage) },
    ]}
  />
);
