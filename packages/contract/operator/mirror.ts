import { plain, plainText, wholeNumber } from '../schema.ts';
import { Iccid, SubscriptionId } from '../subscription.ts';
import { Type } from '../type.ts';
import { listOf, listParameters, nullableCount, nullableTime, type OperatorOperation, time } from './operation.ts';
import { Tenant } from './tenant.ts';

/** Most records of one `applyMirror`, and most characters of them. */
export const mirrorRecordsMax = 1_000;
const charactersMax = 4_194_304;

const mirrorId = Type.String({
  format: 'uuid',
  maxLength: 36,
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'The id of the mirror, which its state file has',
  'x-rule': 'a UUID in lower case',
  examples: ['0b6f2f53-6d7a-4b60-9c0e-5d2c2f0c8f11'],
});

const revisionToken = Type.String({
  maxLength: 22,
  pattern: plainText,
  description: 'Changes with every change of the tenant',
  'x-rule': 'the revision_token of the last response',
  examples: ['kX2f0c8f11T9sZb7Qm4LwA'],
});
const digest = plain(22, 'Digest of the record as it is stored', 'pQ7f0c8f11T9sZb7Qm4LwB');

/** The body of `beginMirror`. */
const NewMirror = Type.Object(
  {
    mirror_id: mirrorId,
    origin: Type.String({
      minLength: 1,
      maxLength: 1_024,
      pattern: '^[\\x20-\\x7e]+$',
      description: 'Base URL of the origin, and the client id there',
      'x-rule': '1 to 1,024 printable characters',
      examples: ['https://api.example.com/connect-api acme'],
    }),
  },
  { additionalProperties: false, description: 'A mirror to begin' },
);

/** The body of `applyMirror`. */
const MirrorChanges = Type.Object(
  {
    mirror_id: mirrorId,
    records: Type.Optional(
      Type.String({
        maxLength: charactersMax,
        description: `New and changed records as NDJSON, at most ${mirrorRecordsMax} lines`,
        pattern: '^([{]|$)',
        'x-rule': `NDJSON of at most ${charactersMax} characters`,
        examples: [''],
      }),
    ),
    removed_ids: Type.Optional(
      Type.Array(SubscriptionId, {
        maxItems: mirrorRecordsMax,
        description: 'Ids of removed records',
        'x-rule': `a list of at most ${mirrorRecordsMax} ids of subscriptions`,
        examples: [['c3Vic2NyaXB0aW9uLTAwMDE=']],
      }),
    ),
    revision_token: Type.Optional(revisionToken),
    new_as_of: Type.Optional(nullableTime('New records up to this instant are in the tenant')),
    changes_as_of: Type.Optional(nullableTime('Changed and removed records up to this instant are')),
    rejected_records: Type.Optional(nullableCount('Records of the origin that the tenant rejects')),
    held_back_removals: Type.Optional(nullableCount('Removals that wait for a person or a day')),
    unconfirmed_removals: Type.Optional(nullableCount('Removals that wait for another walk')),
  },
  { additionalProperties: false, description: 'Changes of a mirror' },
);

/** The result of `applyMirror`. */
const AppliedMirror = Type.Object(
  {
    tenant: plain(256, 'Its name', 'acme'),
    inserted: wholeNumber('Records that were added', 2),
    updated: wholeNumber('Records that were changed', 0),
    unchanged: wholeNumber('Records that were equal', 0),
    removed: wholeNumber('Records that were removed', 1),
    rejected: Type.Array(
      Type.Object(
        {
          line: wholeNumber('Line of the record, from 1', 3),
          reason: plain(1_024, 'The rules that it breaks', 'iccid must be 18 to 22 digits'),
        },
        { additionalProperties: false, description: 'A record that the tenant cannot have' },
      ),
      { maxItems: mirrorRecordsMax, description: 'Records that were not loaded', examples: [[]] },
    ),
    digests: Type.Array(Type.Union([digest, Type.Null()]), {
      maxItems: mirrorRecordsMax,
      description: 'The digest of the record of each line; null for a rejected one',
      examples: [[]],
    }),
    revision_token: revisionToken,
    is_expected: Type.Boolean({
      description: 'Whether the tenant was as the request with the given revision_token left it',
    }),
  },
  { additionalProperties: false, description: 'What became of the changes of a mirror' },
);

/** What a mirror compares of a record. */
const MirrorRecord = Type.Object(
  { id: SubscriptionId, iccid: Iccid, created_at: time('createdDate of the record'), digest },
  { additionalProperties: false, description: 'A record of a mirror: these of its values, and a digest of all' },
);

/** The operations on the mirror of a tenant. */
export const mirrorOperations = {
  beginMirror: {
    method: 'PUT',
    path: '/operator/v1/tenants/{tenant}/mirror',
    tag: 'tenants',
    summary: 'Begin a mirror',
    description:
      'Makes a tenant without records the mirror of an account of another service. From then on it refuses every import until the mirror ends. Repeating the request changes nothing; another mirror gets 409.',
    scope: 'subscription:write',
    body: NewMirror,
    response: { status: 200, description: 'The tenant is the mirror', schema: Tenant, example: 'tenant' },
    errors: [404, 409],
    sample: {
      json: { mirror_id: '0b6f2f53-6d7a-4b60-9c0e-5d2c2f0c8f11', origin: 'https://api.example.com/connect-api acme' },
    },
  },
  applyMirror: {
    method: 'PUT',
    path: '/operator/v1/tenants/{tenant}/mirror/changes',
    tag: 'tenants',
    summary: 'Apply changes of a mirror',
    description:
      'Inserts, updates and removes records of a mirror in one transaction, then stores how old the mirror is, and how many records it rejects or keeps. A member that is left out stays as it was. The request is idempotent: repeating it changes nothing. A record that breaks a rule of the report is listed as rejected; the others are loaded. Only the mirror of the tenant may do so: another mirror_id gets 409.',
    scope: 'subscription:write',
    body: MirrorChanges,
    bodyBytesMax: 8_388_608,
    response: { status: 200, description: 'What was applied', schema: AppliedMirror, example: 'appliedMirror' },
    errors: [404, 409],
    sample: { json: { mirror_id: '0b6f2f53-6d7a-4b60-9c0e-5d2c2f0c8f11', removed_ids: ['c3Vic2NyaXB0aW9uLTAwMDE='] } },
  },
  listMirrorRecords: {
    method: 'GET',
    path: '/operator/v1/tenants/{tenant}/mirror/records',
    tag: 'tenants',
    summary: 'List the records of a mirror',
    description:
      'Returns the id, iccid, createdDate and digest of each record of a mirror, by id, so that the mirror can compare them. Only the mirror of the tenant may read them: another mirror_id gets 409.',
    scope: 'subscription:write',
    requiredQuery: ['mirror_id'],
    sample: { query: { mirror_id: '0b6f2f53-6d7a-4b60-9c0e-5d2c2f0c8f11' } },
    query: {
      ...listParameters,
      mirror_id: mirrorId,
      limit: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 20,
        format: 'int32',
        description: 'Maximum number of items on a page',
        'x-rule': 'a whole number from 1 to 1000',
        examples: [20],
      }),
    },
    response: { status: 200, schema: listOf(MirrorRecord, 'A page of records'), example: 'mirrorRecords' },
    errors: [404, 409],
  },
  endMirror: {
    method: 'DELETE',
    path: '/operator/v1/tenants/{tenant}/mirror',
    tag: 'tenants',
    summary: 'End a mirror',
    description: 'Makes a mirror an ordinary tenant, which keeps its records and accepts imports.',
    scope: 'subscription:write',
    response: { status: 200, description: 'The tenant', schema: Tenant, example: 'tenant' },
    errors: [404, 409],
  },
} as const satisfies Record<string, OperatorOperation>;
