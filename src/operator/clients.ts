import type { OperatorAction } from '../audit/audit-action.ts';
import type { AuditDetails } from '../audit/audit-event.ts';
import { describeClaimedId } from '../auth/claimed-id.ts';
import {
  type ClientEdit,
  deleteClientById,
  describeClient,
  editClient,
  enableClientById,
} from '../auth/edit-client.ts';
import {
  createExternalClient,
  createClient as createOwnClient,
  disableClientById,
  rotateClientSecret,
} from '../auth/manage-clients.ts';
import { revokeSession, revokeTokens } from '../auth/revoke-client-tokens.ts';
import type { GrantType, RefreshTokenUse } from '../contract/grant.ts';
import type { Scope } from '../contract/scope.ts';
import { findClient } from '../storage/tables/client.ts';
import { OperatorError } from './error.ts';
import { type OperatorContext, perform } from './perform.ts';
import { requireTenant } from './tenant.ts';

/** A client to create; what is absent is generated, or has its default. */
interface NewClient {
  readonly tenant: string;
  readonly clientId?: string | undefined;
  readonly secret?: string | undefined;
  readonly grants?: readonly GrantType[] | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly refreshTokenUse?: RefreshTokenUse | undefined;
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
    targetOf: (made: Credentials) => ({ ...target, clientId: made.client_id }),
  };
  return perform(context, action, async () => {
    const { store, now } = context;
    const { external = false, ...values } = client;
    const tenant = await requireTenant(store, client.tenant);
    if (!external) return createOwnClient(store, now(), { ...given(values), tenant });
    return createExternalClient(store, now(), { tenant, clientId: externalId(client) });
  });
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
  performOn(context, 'client.update', clientId, async ({ store, now }) => {
    if (Object.keys(edit).length === 0) {
      throw new OperatorError(
        'INVALID',
        'Cannot update the client: at least one of grants, scopes, refresh token use, rate limit and external must be given',
      );
    }
    if (edit.external === true && (edit.grants !== undefined || edit.refreshTokenUse !== undefined)) {
      throw new OperatorError(
        'INVALID',
        'Cannot update the client: an external one must have no grants and no use of refresh tokens',
      );
    }
    return editClient(store, now(), clientId, edit);
  });

/** How to replace the secret of a client. */
interface Rotation {
  readonly secret?: string | undefined;
  readonly overlapHours: number;
  readonly revokeTokens: boolean;
}

/** Gives a client a new secret. */
export const rotateClient = (context: OperatorContext, clientId: string, rotation: Rotation) =>
  performOn(context, 'client.rotate', clientId, async ({ store, now }) => {
    const credentials = await rotateClientSecret(store, now(), clientId, {
      overlapSeconds: Math.round(rotation.overlapHours * 3_600),
      ...(rotation.secret !== undefined && { secret: rotation.secret }),
    });
    if (rotation.revokeTokens) await revokeTokens(store, now(), clientId);
    return { ...credentials, disabled: (await findClient(store, clientId))?.disabledAt !== null };
  });

/** Disables a client. */
export const disableClient = (context: OperatorContext, clientId: string) =>
  performOn(context, 'client.disable', clientId, async ({ store, now }) => {
    await disableClientById(store, now(), clientId);
    return describeClient(store, now(), clientId);
  });

/** Enables a client. */
export const enableClient = (context: OperatorContext, clientId: string) =>
  performOn(context, 'client.enable', clientId, async ({ store, now }) => {
    await enableClientById(store, clientId);
    return describeClient(store, now(), clientId);
  });

/** Deletes a client. */
export const deleteClient = (context: OperatorContext, clientId: string): Promise<void> =>
  performOn(context, 'client.delete', clientId, ({ store }) => deleteClientById(store, clientId));

/** Revokes all tokens of a client, or those of one session. */
export const revokeClientTokens = (context: OperatorContext, clientId: string, session?: string): Promise<void> =>
  performOn(
    context,
    'client.revoke-tokens',
    clientId,
    ({ store, now }) =>
      session === undefined ? revokeTokens(store, now(), clientId) : revokeSession(store, now(), clientId, session),
    session === undefined ? undefined : { session },
  );

/** Runs an action on one client; its tenant is part of the target. */
async function performOn<T>(
  context: OperatorContext,
  name: OperatorAction,
  clientId: string,
  work: (context: OperatorContext) => Promise<T>,
  details?: AuditDetails,
): Promise<T> {
  const found = await findClient(context.store, clientId);
  // somebody may have pasted a secret in place of an id
  const target = found === undefined ? { clientId: describeClaimedId(clientId) } : { clientId, tenant: found.tenant };
  return perform(context, { name, target, ...(details && { details }) }, () => work(context));
}

type Given<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

/** Drops the members that are `undefined`. */
const given = <T extends object>(values: T): Given<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
