import type { ClientDetails } from '../../../contract/operator/client.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Link } from '../../ui/location.tsx';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { call } from '../call.ts';
import { Crumbs } from '../parts/crumbs.tsx';
import { DangerZone } from '../parts/danger-zone.tsx';
import { DefinitionList } from '../parts/definition-list.tsx';
import { tenantPath } from '../parts/paths.ts';
import { useResource } from '../parts/use-resource.ts';
import { strings } from '../strings.ts';
import { ClientActions } from './client-actions.tsx';
import { ClientState } from './client-columns.tsx';
import { ClientSessions } from './client-sessions.tsx';
import { DeleteClient } from './delete-client.tsx';

const { clients: texts } = strings;

/** One client: its properties, its sessions and what changes them. */
export function ClientPage({ id }: { id: string }) {
  const {
    value: client,
    error,
    reload,
  } = useResource(id, (signal) => call('getClient', { params: { client_id: id }, signal }));
  return (
    <>
      <Crumbs parent={{ href: '/console/clients', label: strings.all(texts.title) }} title={client?.name ?? id} />
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {client === undefined && error === undefined && (
        <Loading>
          <Skeleton height="12em" />
        </Loading>
      )}
      {client !== undefined && (
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
    </>
  );
}

const ClientProperties = ({ client }: { client: ClientDetails }) => (
  <Card title={texts.properties}>
    <DefinitionList
      rows={[
        [texts.id, <code key="id">{client.client_id}</code>],
        [texts.state, <ClientState key="state" client={client} />],
        [
          strings.tenant,
          <Link key="tenant" href={tenantPath(client.tenant)}>
            {client.tenant}
          </Link>,
        ],
        [texts.grants, client.external ? texts.external : client.grants.join(', ')],
        [strings.scopes, client.external ? texts.external : client.scopes.join(', ')],
        [texts.refreshTokenUse, texts.refreshTokenUses[client.refresh_token_use ?? 'default']],
        [texts.quota, texts.quotaOf(client.rate_limit_per_minute)],
        [strings.created, <DateTime key="created" value={client.created_at} />],
        [strings.lastUsed, <DateTime key="used" value={client.last_used_at} />],
        [texts.tokensRevoked, <DateTime key="revoked" value={client.tokens_revoked_at} />],
      ]}
    />
  </Card>
);

const ClientSecrets = ({ client }: { client: ClientDetails }) => (
  <Card title={texts.secrets}>
    {client.secrets.length === 0 ? (
      <p class="soft">{texts.noSecrets}</p>
    ) : (
      <DefinitionList
        rows={client.secrets.map(({ created_at: createdAt, expires_at: expiresAt }, index) => [
          texts.secretNumber(index),
          <span key={createdAt}>
            {texts.secretCreated} <DateTime value={createdAt} />,{' '}
            {expiresAt === null ? (
              texts.neverExpires
            ) : (
              <>
                {texts.expires} <DateTime value={expiresAt} />
              </>
            )}
          </span>,
        ])}
      />
    )}
  </Card>
);
