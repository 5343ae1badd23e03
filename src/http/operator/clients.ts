import {
  createClient,
  deleteClient,
  disableClient,
  enableClient,
  revokeClientTokens,
  rotateClient,
  updateClient,
} from '../../operator/clients.ts';
import { describeClient, describeDetails, describeSession } from '../../operator/describe-client.ts';
import { listClientSessions, listClients, showClient } from '../../operator/read-clients.ts';
import type { AddRoute } from './operator-routes.ts';
import { readPage } from './page.ts';

/** Hours for which the old secret stays valid unless the request says otherwise. */
const defaultOverlapHours = 24;

/** Adds the operations on clients. */
export function addClientRoutes(add: AddRoute): void {
  addReading(add);
  addStates(add);
  add('createClient', ({ context, body }) =>
    createClient(context, {
      tenant: body.tenant,
      clientId: body.client_id,
      secret: body.client_secret,
      grants: body.grants,
      scopes: body.scopes,
      refreshTokenUse: body.refresh_token_use,
      external: body.external,
    }),
  );
  add('updateClient', ({ context, params: { client_id: id = '' }, body }) => {
    const { grants, scopes, refresh_token_use: use, rate_limit_per_minute: rateLimit, external } = body;
    return updateClient(context, id, {
      ...(grants !== undefined && { grants }),
      ...(scopes !== undefined && { scopes }),
      ...(use !== undefined && { refreshTokenUse: use }),
      ...(rateLimit !== undefined && { rateLimit }),
      ...(external !== undefined && { external }),
    });
  });
  add('rotateClient', ({ context, params: { client_id: id = '' }, body }) =>
    rotateClient(context, id, {
      secret: body.client_secret,
      overlapHours: body.overlap_hours ?? defaultOverlapHours,
      revokeTokens: body.revoke_tokens ?? false,
    }),
  );
  add('revokeClientTokens', ({ context, params: { client_id: id = '' }, body: { session } }) =>
    revokeClientTokens(context, id, session),
  );
}

function addReading(add: AddRoute): void {
  add('listClients', ({ context, query: { tenant, ...page } }) =>
    readPage(page, {
      keyParts: 2,
      read: ([afterTenant = '', afterId = ''], limit) => listClients(context, tenant, { afterTenant, afterId, limit }),
      keyOf: (client) => [client.tenant, client.clientId],
      show: describeClient,
    }),
  );
  add('getClient', async ({ context, params: { client_id: id = '' } }) =>
    describeDetails(await showClient(context, id)),
  );
  add('listClientSessions', async ({ context, params: { client_id: id = '' } }) => ({
    data: (await listClientSessions(context, id)).map(describeSession),
    next: null,
  }));
}

function addStates(add: AddRoute): void {
  add('disableClient', ({ context, params: { client_id: id = '' } }) => disableClient(context, id));
  add('enableClient', ({ context, params: { client_id: id = '' } }) => enableClient(context, id));
  add('deleteClient', ({ context, params: { client_id: id = '' } }) => deleteClient(context, id));
}
