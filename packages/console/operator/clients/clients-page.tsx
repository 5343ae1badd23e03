import { useState } from 'preact/hooks';
import { KeyRound, Plus } from '../../ui/icons.ts';
import { currentLocation } from '../../ui/location.tsx';
import { ActionButton } from '../parts/action-button.tsx';
import { DownloadCsv } from '../parts/download-csv.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { tenantFilter, valueFilter } from '../parts/list-filter.tsx';
import { ListView } from '../parts/list-view.tsx';
import { itemOf } from '../parts/paths.ts';
import { useList } from '../parts/use-list.ts';
import { strings } from '../strings.ts';
import { clientColumns } from './client-columns.tsx';
import { ClientPage } from './client-page.tsx';
import { CreateClient } from './create-client.tsx';

const { clients: texts } = strings;

const filters = [tenantFilter, valueFilter({ name: 'search', label: texts.search, isOpen: true })];

/** All clients, or the one of the address. */
export function ClientsPage() {
  const id = itemOf(currentLocation.value.path);
  return id === undefined ? <AllClients /> : <ClientPage key={id} id={id} />;
}

function AllClients() {
  const tenant = currentLocation.value.query.get('tenant') ?? undefined;
  const wanted = { tenant, search: currentLocation.value.query.get('search') ?? undefined };
  const list = useList('listClients', wanted);
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <FilterBar filters={filters}>
        <DownloadCsv id="listClients" query={wanted} name="clients" />
        <ActionButton permission="createClient" variant="primary" icon={Plus} onClick={() => setCreating(true)}>
          {texts.create}
        </ActionButton>
      </FilterBar>
      <ListView
        label={texts.title}
        list={list}
        columns={clientColumns}
        keyOf={({ client_id: each }) => each}
        empty={
          Object.values(wanted).some((value) => value !== undefined)
            ? { icon: KeyRound, title: texts.noneFound }
            : { icon: KeyRound, title: texts.none, text: texts.noneHint }
        }
      />
      {isCreating && <CreateClient tenant={tenant} onCreated={list.reload} onClose={() => setCreating(false)} />}
    </>
  );
}
