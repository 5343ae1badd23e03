import type { AuditDetails, OperatorAction } from '../audit/audit-event.ts';
import { describeClaimedId } from '../auth/clients/authenticate-client.ts';
import {
  type ClientEdit,
  describeClient,
  editClient,
  revokeSession,
  revokeTokens,
} from '../auth/clients/edit-client.ts';
import {
  type ChosenSecret,
  chooseSecret,
  createExternalClient,
  createClient as createOwnClient,
  type NewClient as NewOwnClient,
  requireClient,
  rotateClientSecret,
} from '../auth/clients/manage-clients.ts';
import type { Directory } from '../storage/store.ts';
import { findClient } from '../storage/tables/client.ts';
import {
  disableClient as disable,
  enableClient as enable,
  deleteClient as removeClient,
} from '../storage/tables/client-changes.ts';
import { OperatorError } from './error.ts';
import { type OperatorContext, perform } from './perform.ts';
import { describeDetails } from './read-clients.ts';
import { requireTenant } from './require-tenant.ts';

/** A client to create; what is absent is generated, or has its default. */
interface NewClient extends Omit<NewOwnClient, 'tenant'> {
  readonly tenant: string;
  /** Whether only the external issuer issues its tokens. */
  readonly external?: boolean | undefined;
}

/** The credentials of a client; an external one has no secret. */
interface Credentials {
  readonly client_id: string;
  readonly client_secret?: string;
}

/** Creates a client. Throws `ClientError` or `OperatorError`. */
export function createClient(context: OperatorContext, client: NewClient): Promise<Credentials> {
  const target = { tenant: client.tenant, ...(client.clientId !== undefined && { clientId: client.clientId }) };
  const action = {
    name: 'client.create' as const,
    target,
    ...(client.name !== undefined && { details: { name: client.name } }),
    targetOf: (made: Credentials) => ({ ...target, clientId: made.client_id }),
  };
  const { external = false, ...values } = client;
  const change = async (directory: Directory, secret: ChosenSecret | undefined): Promise<Credentials> => {
    const tenant = await requireTenant(directory, client.tenant, 'add');
    if (secret !== undefined) return createOwnClient(directory, context.now(), { ...values, tenant }, secret);
    const { name } = client;
    return createExternalClient(directory, context.now(), { name, tenant, clientId: externalId(client) });
  };
  const prepare = async () =>
    external ? undefined : chooseSecret(client.secret, [client.clientId ?? '', client.tenant]);
  return perform(context, action, change, prepare);
}

/** Returns the id of an external client; throws if it has what only clients of ours may have. */
function externalId({ clientId, secret, grants, scopes, refreshTokenUse }: NewClient): string {
  const hasOther = [secret, grants, scopes, refreshTokenUse].some((value) => value !== undefined);
  if (clientId !== undefined && !hasOther) return clientId;
  throw new OperatorError(
    'INVALID',
    "Cannot create the client: an external one must have a client id, as it appears in the issuer's tokens, and no secret, grants, scopes or use of refresh tokens",
  );
}

/** Changes a client. Throws `ClientError` if there is none, as all functions below do. */
export const updateClient = (context: OperatorContext, clientId: string, edit: ClientEdit) =>
  performOn(context, 'client.update', clientId, async (directory) => {
    if (Object.values(edit).every((value) => value === undefined)) {
      throw new OperatorError(
        'INVALID',
        'Cannot update the client: at least one of name, grants, scopes, refresh token use, rate limit and external must be given',
      );
    }
    if (edit.external === true && (edit.grants !== undefined || edit.refreshTokenUse !== undefined)) {
      throw new OperatorError(
        'INVALID',
        'Cannot update the client: an external one must have no grants and no use of refresh tokens',
      );
    }
    return describeDetails(await editClient(directory, context.now(), clientId, edit));
  });

/** Gives a client a new secret. */
export const rotateClient = (
  context: OperatorContext,
  clientId: string,
  rotation: { readonly secret?: string | undefined; readonly overlapHours: number; readonly revokeTokens: boolean },
) =>
  performOn(
    context,
    'client.rotate',
    clientId,
    async (directory, secret: ChosenSecret) => {
      const overlapSeconds = Math.round(rotation.overlapHours * 3_600);
      const credentials = await rotateClientSecret(directory, context.now(), clientId, { overlapSeconds }, secret);
      if (rotation.revokeTokens) await revokeTokens(directory, context.now(), clientId);
      return { ...credentials, disabled: (await findClient(directory, clientId))?.disabledAt !== null };
    },
    { prepare: (tenant) => chooseSecret(rotation.secret, [clientId, tenant]) },
  );

export const disableClient = (context: OperatorContext, clientId: string) =>
  performOn(context, 'client.disable', clientId, async (directory) => {
    await disable(directory, clientId, context.now());
    return describeDetails(await describeClient(directory, context.now(), clientId));
  });

export const enableClient = (context: OperatorContext, clientId: string) =>
  performOn(context, 'client.enable', clientId, async (directory) => {
    await enable(directory, clientId);
    return describeDetails(await describeClient(directory, context.now(), clientId));
  });

export const deleteClient = (context: OperatorContext, clientId: string) =>
  performOn(context, 'client.delete', clientId, async (directory) => {
    if (!(await removeClient(directory, clientId))) await requireClient(directory, clientId);
    return { client_id: clientId, deleted: true };
  });

/** Revokes all tokens of a client, or those of one session. */
export const revokeClientTokens = (context: OperatorContext, clientId: string, session?: string) =>
  performOn(
    context,
    'client.revoke-tokens',
    clientId,
    async (directory) => {
      if (session === undefined) await revokeTokens(directory, context.now(), clientId);
      else await revokeSession(directory, context.now(), clientId, session);
      return { client_id: clientId, revoked: session ?? 'all' };
    },
    session === undefined ? {} : { details: { session } },
  );

/** Runs an action on one client; its tenant is part of the target. */
async function performOn<T, P = undefined>(
  context: OperatorContext,
  name: OperatorAction,
  clientId: string,
  change: (directory: Directory, prepared: P) => Promise<T>,
  { details, prepare }: { details?: AuditDetails; prepare?: (tenant: string) => Promise<P> } = {},
): Promise<T> {
  const found = await findClient(context.store, clientId);
  // somebody may have pasted a secret in place of an id
  const target = found === undefined ? { clientId: describeClaimedId(clientId) } : { clientId, tenant: found.tenant };
  const named = { ...(found?.name != null && { name: found.name }), ...details };
  const action = { name, target, ...(Object.keys(named).length > 0 && { details: named }) };
  return perform(context, action, change, prepare && (() => prepare(found?.tenant ?? '')));
}
