import { parseInstant } from '../../../contract/instant.ts';
import { auditOperations } from '../../../contract/operator/audit.ts';
import type { ServiceHealth } from '../../../contract/operator/health.ts';
import { listLimitDefault, listParameters } from '../../../contract/operator/operation.ts';
import type { Setting } from '../../../contract/operator/setting.ts';
import { describeFaults } from '../../../contract/parameter-faults.ts';
import { ProblemError } from '../../../contract/problem.ts';
import { ruleOf } from '../../../contract/schema.ts';
import { formatAuditEntry, listAuditEntries } from '../../audit/audit-log.ts';
import { describeClient as findDescribedClient, listClientSessions } from '../../auth/clients/edit-client.ts';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { listKeys } from '../../auth/keys/rotate-keys.ts';
import type { OperatorGate } from '../../auth/verify/authorize-operator.ts';
import {
  createClient,
  deleteClient,
  disableClient,
  enableClient,
  revokeClientTokens,
  rotateClient,
  updateClient,
} from '../../operator/clients.ts';
import { runDoctor, showDoctor } from '../../operator/doctor.ts';
import { eraseSubscriptions } from '../../operator/erase.ts';
import { describeImport, listImports, readImportErrors, showImport } from '../../operator/imports.ts';
import { describeKey, rotateKeys } from '../../operator/keys.ts';
import {
  createOperator,
  describeOperator,
  listOperators,
  requireOwnToken,
  revokeOperator,
} from '../../operator/operators.ts';
import { describeClient, describeDetails, describeSession, listClients } from '../../operator/read-clients.ts';
import {
  createTenant,
  deleteTenant,
  describeTenant,
  listTenants,
  saveColumns,
  showTenant,
} from '../../operator/tenants.ts';
import { metricsUnavailable } from './metrics-route.ts';
import type { AddRoute } from './operator-routes.ts';

/** Adds the operations on tenants, and `eraseSubscriptions`. */
function addTenantRoutes(add: AddRoute): void {
  add('listTenants', ({ context, query }) =>
    readPage(query, {
      keyParts: 1,
      read: ([after = ''], limit) => listTenants(context, after, limit),
      keyOf: ({ tenant }) => [tenant],
      show: describeTenant,
    }),
  );
  add('createTenant', ({ context, body }) => createTenant(context, body.tenant));
  add('getTenant', async ({ context, params: { tenant = '' } }) => describeTenant(await showTenant(context, tenant)));
  add('saveColumns', ({ context, params: { tenant = '' }, body }) => saveColumns(context, tenant, body.columns));
  add('deleteTenant', ({ contextWithoutDeadline, params: { tenant = '' } }) =>
    deleteTenant(contextWithoutDeadline(), tenant),
  );
  add('eraseSubscriptions', ({ contextWithoutDeadline, params: { tenant = '' }, body }) =>
    eraseSubscriptions(contextWithoutDeadline(), tenant, body),
  );
}

/** Hours for which the old secret stays valid unless the request says otherwise. */
const defaultOverlapHours = 24;

function addClientRoutes(add: AddRoute): void {
  add('createClient', ({ context, body }) => {
    const { client_id: clientId, client_secret: secret, refresh_token_use: refreshTokenUse, ...client } = body;
    return createClient(context, { ...client, clientId, secret, refreshTokenUse });
  });
  add('updateClient', ({ context, params: { client_id: id = '' }, body }) => {
    const { refresh_token_use: refreshTokenUse, rate_limit_per_minute: rateLimit, ...edit } = body;
    return updateClient(context, id, { ...edit, refreshTokenUse, rateLimit });
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
  add('listClients', ({ context, query: { tenant, search, ...page } }) =>
    readPage(page, {
      keyParts: 2,
      read: ([afterTenant = '', afterId = ''], limit) =>
        listClients(context, tenant, { afterTenant, afterId, limit, search }),
      keyOf: (client) => [client.tenant, client.clientId],
      show: describeClient,
    }),
  );
  add('getClient', async ({ context, params: { client_id: id = '' } }) =>
    describeDetails(await findDescribedClient(context.store, context.now(), id)),
  );
  add('listClientSessions', async ({ context, params: { client_id: id = '' } }) => ({
    data: (await listClientSessions(context.store, context.now(), id)).map(describeSession),
    next: null,
  }));
  add('disableClient', ({ context, params: { client_id: id = '' } }) => disableClient(context, id));
  add('enableClient', ({ context, params: { client_id: id = '' } }) => enableClient(context, id));
  add('deleteClient', ({ context, params: { client_id: id = '' } }) => deleteClient(context, id));
}

/**
 * Makes the function that adds `listOperators`, `createOperator` and `revokeOperator`. With `gate`,
 * for sessions of the console, who creates a token must send their own again.
 */
export const operatorTokenRoutes = (gate?: OperatorGate) => (add: AddRoute) => {
  add('listOperators', ({ context, query }) =>
    readPage(query, {
      keyParts: 1,
      read: ([after = ''], limit) => listOperators(context, after, limit),
      keyOf: ({ id }) => [id],
      show: describeOperator,
    }),
  );
  add('createOperator', ({ context, body: { name, scopes, expires_days: expiresDays, current_token: token } }) =>
    createOperator(
      context,
      { name, scopes, ...(expiresDays !== undefined && { expiresDays }) },
      gate && (() => requireOwnToken(gate, context.actor, token)),
    ),
  );
  add('revokeOperator', ({ context, params: { operator_id: id = '' } }) => revokeOperator(context, id));
};

/** Adds `listImports`, `getImport` and `getImportErrors`. */
function addImportRoutes(add: AddRoute): void {
  add('listImports', ({ context, query: { tenant, result, ...page } }) =>
    readPage(page, {
      keyParts: 1,
      read: ([before], limit) => listImports(context, { tenant, result, before: before || undefined }, limit),
      keyOf: ({ id }) => [id],
      show: describeImport,
    }),
  );
  add('getImport', async ({ context, params: { import_id: id = '' } }) =>
    describeImport(await showImport(context, id)),
  );
  add('getImportErrors', ({ context, params: { import_id: id = '' } }) => readImportErrors(context, id));
}

/** Makes the function that adds `listKeys` and `rotateKeys` for the keys of `ring`. */
const keyRoutes =
  (ring: KeyRingOptions) =>
  (add: AddRoute): void => {
    add('listKeys', async () => ({ data: (await listKeys(ring)).map(describeKey), next: null }));
    add('rotateKeys', ({ context, body: { purpose = 'access', mode = 'soon' } }) =>
      rotateKeys(context, ring, purpose, mode),
    );
  };

/** The functions that add the operations on the store, but for the tokens of operators. */
export const storeRoutes = (ring: KeyRingOptions) => [
  addTenantRoutes,
  addClientRoutes,
  keyRoutes(ring),
  addImportRoutes,
  addAuditRoutes,
];

/** What the process knows about itself. */
export interface ServiceState {
  /** Checks the store in another process, which stores the result. */
  readonly checkStore: () => Promise<void>;
  /** `undefined` if the metrics cannot be collected. */
  readonly readHealth: () => Promise<ServiceHealth | undefined>;
  readonly settings: readonly Setting[];
}

/** Makes the function that adds `getDoctor`, `runDoctor`, `getServiceHealth` and `listSettings`. */
export const serviceRoutes =
  ({ checkStore, readHealth, settings }: ServiceState) =>
  (add: AddRoute): void => {
    add('getDoctor', ({ context }) => showDoctor(context));
    add('runDoctor', ({ contextWithoutDeadline }) => runDoctor(contextWithoutDeadline(), checkStore));
    add('getServiceHealth', async () => {
      const health = await readHealth();
      if (health === undefined) throw metricsUnavailable();
      return health;
    });
    add('listSettings', async () => ({ data: settings, next: null }));
  };

const entryId = /^\d{1,15}$/;

/** Adds `listAuditEntries`. Its pages follow the ids, as most of a page may not match a filter. */
function addAuditRoutes(add: AddRoute): void {
  add('listAuditEntries', async ({ context, query }) => {
    const { limit = listLimitDefault, cursor, after, since, until, client_id: clientId, ...same } = query;
    const filter = { ...same, clientId, since: secondsOf('since', since), until: secondsOf('until', until) };
    const at = cursor === undefined ? after : Number(parseCursor(cursor, 1, entryId)[0]);
    const page = after === undefined ? { limit, before: at } : { limit, after: at };
    const { entries, reached, hasMore } = await listAuditEntries(context.store, filter, page);
    return { data: entries.map(formatAuditEntry), next: hasMore ? formatCursor([String(reached)]) : null };
  });
}

/** The seconds of a time; throws `ProblemError` if the day or the hour does not exist. */
function secondsOf(parameter: 'since' | 'until', instant: string | undefined): number | undefined {
  if (instant === undefined) return undefined;
  const parsed = parseInstant(instant);
  if (parsed !== undefined) return parsed.seconds;
  const fault = { parameter, value: instant, rule: ruleOf(auditOperations.listAuditEntries.query[parameter]) };
  throw new ProblemError(describeFaults([fault], false));
}

/** A page of a list as it is sent. */
interface Page<T> {
  readonly data: readonly T[];
  readonly next: string | null;
}

/**
 * Reads one page of a list. `read` returns up to `limit` items after the one with the key `after`,
 * which has `keyParts` strings; all are empty for the first page. `keyOf` returns the key of an
 * item.
 */
async function readPage<Item, Shown>(
  { limit = listLimitDefault, cursor }: { readonly limit?: number; readonly cursor?: string },
  { keyParts, read, keyOf, show }: ListSource<Item, Shown>,
): Promise<Page<Shown>> {
  const after = cursor === undefined ? Array<string>(keyParts).fill('') : parseCursor(cursor, keyParts);
  const items = await read(after, limit + 1);
  const last = items.length > limit ? items[limit - 1] : undefined;
  return {
    data: items.slice(0, limit).map(show),
    next: last === undefined ? null : formatCursor(keyOf(last)),
  };
}

interface ListSource<Item, Shown> {
  readonly keyParts: number;
  readonly read: (after: readonly string[], limit: number) => Promise<readonly Item[]>;
  readonly keyOf: (item: Item) => readonly string[];
  readonly show: (item: Item) => Shown;
}

const formatCursor = (key: readonly string[]): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** No key has a NUL, which PostgreSQL rejects. */
const anyPart = /^[^\0]*$/;

/** Reads the key in a cursor; throws `ProblemError` if it is not a cursor of ours. */
function parseCursor(cursor: string, keyParts: number, part = anyPart): readonly string[] {
  const key = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  const isPart = (each: unknown): boolean => typeof each === 'string' && part.test(each);
  if (Array.isArray(key) && key.length === keyParts && key.every(isPart)) return key;
  const fault = { parameter: 'cursor', value: cursor.slice(0, 64), rule: ruleOf(listParameters.cursor) };
  throw new ProblemError(describeFaults([fault], false));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // SyntaxError: not a cursor of ours; the caller reports it
  }
}
