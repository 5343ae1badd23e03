import type { ClientDetails } from '../../../contract/operator/client.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { announce } from '../../ui/live-region.tsx';
import { Link, navigate } from '../../ui/location.tsx';
import { DangerZone, Destruction } from '../parts/danger-zone.tsx';
import { DefinitionList } from '../parts/definition-list.tsx';
import { Detail } from '../parts/detail.tsx';
import { OperationDialog } from '../parts/operation-dialog.tsx';
import { tenantPath } from '../parts/paths.ts';
import { strings } from '../strings.ts';
import { ClientActions } from './client-actions.tsx';
import { ClientState } from './client-columns.tsx';
import { ClientSessions } from './client-sessions.tsx';

const { clients: texts } = strings;

/** One client: its properties, its sessions and what changes them. */
export const ClientPage = ({ id }: { id: string }) => (
  <Detail
    operation="getClient"
    params={{ client_id: id }}
    list={['/console/clients', texts.title]}
    titleOf={(client) => client?.name ?? id}
  >
    {(client, reload) => (
      <>
        <ClientActions client={client} onChanged={reload} />
        <div class="columns">
          <ClientProperties client={client} />
          <ClientSecrets client={client} />
        </div>
        <ClientSessions client={client} onChanged={reload} />
        <DangerZone>
          <DeleteClient client={client} />
        </DangerZone>
      </>
    )}
  </Detail>
);

const ClientProperties = ({ client }: { client: ClientDetails }) => (
  <Card title="Properties">
    <DefinitionList
      values={{
        [texts.id]: <code>{client.client_id}</code>,
        [texts.state]: <ClientState client={client} />,
        [strings.tenant]: <Link href={tenantPath(client.tenant)}>{client.tenant}</Link>,
        [texts.grants]: client.external ? texts.external : client.grants.join(', '),
        [strings.scopes]: client.external ? texts.external : client.scopes.join(', '),
        [texts.refreshTokenUse]: texts.refreshTokenUses[client.refresh_token_use ?? ''],
        [texts.quota]: texts.quotaOf(client.rate_limit_per_minute),
        [strings.created]: <DateTime value={client.created_at} />,
        [strings.lastUsed]: <DateTime value={client.last_used_at} />,
        'Tokens revoked': <DateTime value={client.tokens_revoked_at} />,
      }}
    />
  </Card>
);

const ClientSecrets = ({ client: { secrets } }: { client: ClientDetails }) => (
  <Card title="Secrets">
    {secrets.length === 0 && <p class="soft">This client has no secret.</p>}
    <DefinitionList
      values={Object.fromEntries(
        secrets.map(({ created_at: createdAt, expires_at: expiresAt }, index) => [
          texts.secretNumber(index, secrets.length),
          <>
            created <DateTime value={createdAt} />, {expiresAt === null ? 'never expires' : 'expires'}{' '}
            {expiresAt !== null && <DateTime value={expiresAt} />}
          </>,
        ]),
      )}
    />
  </Card>
);

/** Deletes a client, and opens the page of its tenant. */
const DeleteClient = ({ client: { client_id: id, tenant } }: { client: ClientDetails }) => (
  <Destruction
    permission="deleteClient"
    title="Delete client"
    text={texts.deletion.effect}
    dialog={(close) => (
      <OperationDialog
        operation="deleteClient"
        params={{ client_id: id }}
        title={texts.deletion.question(id)}
        submit={strings.deleteForGood}
        typed={id}
        onDone={() => {
          announce(texts.deletion.done(id));
          navigate(tenantPath(tenant));
        }}
        onClose={close}
      >
        <p>{texts.deletion.effect}</p>
      </OperationDialog>
    )}
  />
);
