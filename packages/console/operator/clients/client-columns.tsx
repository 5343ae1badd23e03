import type { Client } from '../../../contract/operator/client.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { Link } from '../../ui/location.tsx';
import type { Column } from '../parts/data-table.tsx';
import { clientPath, tenantPath } from '../parts/paths.ts';
import { StateLabel } from '../parts/state-label.tsx';
import { strings } from '../strings.ts';

const { clients: texts } = strings;

/** Whether a client may get tokens, as a dot and a word. */
export const ClientState = ({ client }: { client: Pick<Client, 'disabled_at'> }) =>
  client.disabled_at === null ? (
    <StateLabel tone="active">Enabled</StateLabel>
  ) : (
    <StateLabel tone="expired">Disabled</StateLabel>
  );

/** A client by its name, with a link to it; its id follows, if it has a name. */
export const ClientName = ({ client: { client_id: id, name } }: { client: Pick<Client, 'client_id' | 'name'> }) => (
  <>
    <Link href={clientPath(id)}>{name ?? id}</Link>
    {name !== null && <span class="second-line small">{id}</span>}
  </>
);

/** The columns of a list of clients. */
export const clientColumns: readonly Column<Client>[] = [
  { label: 'Client', cell: (client) => <ClientName client={client} /> },
  { label: strings.tenant, cell: ({ tenant }) => <Link href={tenantPath(tenant)}>{tenant}</Link> },
  { label: texts.state, cell: (client) => <ClientState client={client} /> },
  {
    label: strings.scopes,
    isWide: true,
    cell: ({ scopes, external }) =>
      external
        ? texts.external
        : scopes.map((scope, index) => (
            <span key={scope}>
              {index > 0 && ', '}
              <span class="nowrap">{scope}</span>
            </span>
          )),
  },
  { label: strings.lastUsed, cell: ({ last_used_at: at }) => <DateTime value={at} focusable={false} /> },
  { label: strings.created, cell: ({ created_at: at }) => <DateTime value={at} focusable={false} /> },
];
