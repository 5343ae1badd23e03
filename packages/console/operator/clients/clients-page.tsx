import { KeyRound, Plus } from '../../ui/icons.ts';
import { currentLocation } from '../../ui/location.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { tenantFilter } from '../parts/filter-fields.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { itemOf } from '../parts/paths.ts';
import { strings } from '../strings.ts';
import { clientColumns } from './client-columns.tsx';
import { ClientPage } from './client-page.tsx';
import { CreateClient } from './create-client.tsx';

const { clients: texts } = strings;

const filters = [tenantFilter, { name: 'search', label: 'Client id or name' }];

/** All clients, or the one of the address. */
export function ClientsPage() {
  const { path, query } = currentLocation.value;
  const id = itemOf(path);
  if (id !== undefined) return <ClientPage key={id} id={id} />;
  return (
    <ListPage
      operation="listClients"
      title={texts.title}
      filters={filters}
      columns={clientColumns}
      keyOf={({ client_id }) => client_id}
      empty={{ icon: KeyRound, ...texts }}
      actions={(reload) => (
        <DialogButton
          permission="createClient"
          variant="primary"
          icon={Plus}
          dialog={(close) => (
            <CreateClient tenant={query.get('tenant') ?? undefined} onCreated={reload} onClose={close} />
          )}
        >
          {texts.create}
        </DialogButton>
      )}
    />
  );
}
