import type { Static } from 'typebox';
import { mappingJson, nullableMapping } from '../load.ts';
import { closed, plain, wholeNumber } from '../schema.ts';
import { Email, Iccid, SubscriptionId } from '../subscription.ts';
import { Type } from '../type.ts';
import { LastImport } from './import.ts';
import { listOf, listParameters, nullableTime, type OperatorOperation, time } from './operation.ts';

/** The name of a new tenant. */
export const tenantName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
  description: 'Name of the tenant',
  'x-rule': '1 to 63 of the characters a-z 0-9 -, starting with a letter or digit',
  examples: ['acme'],
});

const tenant = plain(256, 'Its name', 'acme');

/** What a tenant is charged of its storage budget. */
export const TenantStorage = closed('Bytes that a tenant is charged, and its storage budget', {
  total: wholeNumber('Bytes charged for its records, their history and the tombstones of removed ones', 2_532_850),
  budget: Type.Union([wholeNumber('', 17_179_869_184), Type.Null()], {
    description: 'The storage budget in bytes (TENANT_STORAGE_MAX_MIB); null if there is none',
  }),
});
export type TenantStorage = Static<typeof TenantStorage>;

/** A tenant of the operator. */
export const Tenant = closed('A tenant: a customer whose subscriptions are reported', {
  tenant,
  created_at: time('When it was created'),
  records: wholeNumber('Number of its records', 2000),
  revision: wholeNumber('Grows with each change of its records', 7),
  deleting_since: nullableTime('When its deletion began; null unless it is being deleted'),
  last_import: Type.Union([LastImport, Type.Null()], {
    description: 'Its newest import, not counting dry runs; null if the history has none',
  }),
  last_good_import_at: nullableTime('When an import last ended without a rejected row; null if none has'),
  columns: nullableMapping('The mapping of columns that is saved for its imports; null if none is'),
  storage: TenantStorage,
});
export type Tenant = Static<typeof Tenant>;

/** The result of the deletion of a tenant. */
export const DeletedTenant = closed('A tenant that was deleted', {
  tenant,
  deleted: Type.Boolean({ description: 'Always true' }),
  clients: wholeNumber('Number of clients that were deleted', 2),
  rows: wholeNumber('Number of rows that were deleted: records, counts and tombstones', 2100),
});

/** Maximum number of ids in one erasure. */
export const erasureIdsMax = 2_000;

/** The body of `createTenant`. */
export const NewTenant = closed('A tenant to create', { tenant: Type.Optional(tenantName) });

/** The body of `eraseSubscriptions`. */
export const Erasure = closed(
  'The records to erase: those with these ids, or all of one subscriber (email) or one SIM (iccid)',
  {
    ids: Type.Optional(
      Type.Array(SubscriptionId, {
        minItems: 1,
        maxItems: erasureIdsMax,
        description: 'Ids of subscriptions; an id that appears twice counts once',
        'x-rule': `a list of 1 to ${erasureIdsMax} ids of subscriptions`,
        examples: [['c3Vic2NyaXB0aW9uLTAwMDE=']],
      }),
    ),
    email: Type.Optional(Email),
    iccid: Type.Optional(Iccid),
  },
);

/** The body of `saveColumns`. */
export const SavedColumns = closed('A mapping of columns to save', { columns: mappingJson });

/** The result of an erasure. */
export const ErasureSummary = closed('What an erasure did', {
  tenant,
  asked: wholeNumber('Distinct ids in the request, or records of the subscriber or SIM', 2),
  ...{ deleted: wholeNumber('Records that were erased', 1), missing: wholeNumber('Ids without a record', 1) },
  versions: wholeNumber('Former versions that were erased, also of removed records', 3),
});

/** The operations on tenants. */
export const tenantOperations = {
  listTenants: {
    method: 'GET',
    path: '/operator/v1/tenants',
    tag: 'tenants',
    summary: 'List tenants',
    description:
      'Returns the tenants by name, including those being deleted, with the number of their records. The numbers come from stored counts, so a list costs the same for any number of records.',
    scope: 'operator:read',
    query: listParameters,
    response: { status: 200, schema: listOf(Tenant, 'A page of tenants'), example: 'tenants' },
  },
  createTenant: {
    method: 'POST',
    path: '/operator/v1/tenants',
    tag: 'tenants',
    summary: 'Create a tenant',
    description: 'Creates a tenant. Without a name, one is generated.',
    scope: 'operator:write',
    body: NewTenant,
    response: { status: 201, schema: Tenant, example: 'newTenant' },
    errors: [409],
    sample: { json: { tenant: 'acme' } },
  },
  getTenant: {
    method: 'GET',
    path: '/operator/v1/tenants/{tenant}',
    tag: 'tenants',
    summary: 'Get a tenant',
    description: 'Returns one tenant, also while it is being deleted.',
    scope: 'operator:read',
    response: { status: 200, schema: Tenant, example: 'tenant' },
  },
  saveColumns: {
    method: 'PUT',
    path: '/operator/v1/tenants/{tenant}/columns',
    tag: 'tenants',
    summary: 'Save the mapping of columns',
    description:
      'Saves which columns of CSV are which fields, for loads of this tenant with columns=saved, and in place of the former mapping. An empty mapping removes it.',
    scope: 'subscription:write',
    body: SavedColumns,
    response: { status: 200, schema: Tenant, example: 'tenant' },
    errors: [409],
    sample: { json: { columns: '{"columns":{"iccid":"SIM"}}' } },
  },
  deleteTenant: {
    method: 'DELETE',
    path: '/operator/v1/tenants/{tenant}',
    tag: 'tenants',
    summary: 'Delete a tenant',
    description:
      'Permanently deletes a tenant: first its clients, whose tokens are rejected from then on, then its records. The response is sent when all is deleted, which takes minutes for millions of records. A deletion continues if the caller disconnects. If the service stops, send the request again: it continues where it was; 404 means that the tenant is deleted. While an import into the tenant or another deletion of it runs, the response is 503.',
    scope: 'operator:write',
    response: { status: 200, schema: DeletedTenant, example: 'deletedTenant' },
  },
  eraseSubscriptions: {
    method: 'POST',
    path: '/operator/v1/tenants/{tenant}/subscriptions/erase',
    tag: 'records',
    summary: 'Erase records',
    description:
      'Permanently deletes records of a tenant for erasure requests: exactly one of ids, email and iccid says which. Clients that read changes receive a tombstone for each. Unknown ids are counted as missing. Remove the records from the source of your imports first. While an import into the tenant runs, the response is 503.',
    scope: 'operator:write',
    body: Erasure,
    bodyBytesMax: 1_048_576,
    response: { status: 200, schema: ErasureSummary, example: 'erasure' },
    errors: [409],
    sample: { json: { ids: ['c3Vic2NyaXB0aW9uLTAwMDE='] } },
  },
} as const satisfies Record<string, OperatorOperation>;
