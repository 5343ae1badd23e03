import type { Static } from 'typebox';
import { fieldsOf } from './fields.ts';
import { CommittedAt, changeKinds, MadeByImport } from './history.ts';
import { reportParameters } from './query.ts';
import type { PageLimits } from './report.ts';
import { choice, closed, flag } from './schema.ts';
import { noStatus, Subscription, SubscriptionId } from './subscription.ts';
import { Type } from './type.ts';
import { zoneOf } from './zone.ts';

/** A tombstone: the record of this id was removed. Records never have a member `removed`. */
export const RemovedSubscription = closed('A tombstone: the subscription of this id was removed', {
  id: SubscriptionId,
  removed: Type.Literal(true, { description: 'Always true; distinguishes a tombstone from a record' }),
});
export type RemovedSubscription = Static<typeof RemovedSubscription>;

const described = {
  kind: Type.Enum(changeKinds, {
    type: 'string',
    maxLength: 7,
    description: 'What happened to the record since the moment in since',
    examples: ['changed'],
  }),
  committed_at: Type.Optional(CommittedAt),
  import_id: Type.Optional(MadeByImport),
};

const before = Type.Optional({
  ...Subscription,
  description: 'The record at the moment in since; absent if there was none, or if its former versions were erased',
});

/** A record that was added or changed, with its former version: a change with `before=true`. */
export const DescribedSubscription = closed('The current version of a subscription, and what it was', {
  ...Subscription.properties,
  ...described,
  before,
});

/** A tombstone with the former version: a change with `before=true`. */
export const DescribedRemoval = closed('A tombstone, and what the subscription was', {
  ...RemovedSubscription.properties,
  ...described,
  before,
});

/** The last change of a record: its current version, or a tombstone. */
export type SubscriptionChange = Subscription | RemovedSubscription;

const changeToken = {
  pattern: '^[A-Za-z0-9_-]{1,512}$',
  maxLength: 512,
  examples: ['WzEsNDIsIiIsIjFuNHA5cSJd'],
};

export const ChangeToken = Type.String(changeToken);

/** Orders of the changes; the first is the default, and the one in which a copy applies them. */
export const changeOrders = ['oldest', 'newest'] as const;
export type ChangeOrder = (typeof changeOrders)[number];

/**
 * What a changed record can be selected by. A renewal is a change after which expirationDate is
 * later.
 */
export const changedFields = ['status', 'product-id', 'auto-renew', 'renewal'] as const;
export type ChangedField = (typeof changedFields)[number];

/** The value of `import-id` that selects changes without an import. */
export const withoutImport = 'none';

const valueOfField = {
  pattern: '^[^\\u0000-\\u001f\\u007f]{1,128}$',
  maxLength: 128,
  'x-rule': `a value of 'field', of 1 to 128 characters; ${noStatus} is no status`,
};

/** The parameters that select changes. */
export const changeFilterParameters = {
  kind: Type.String({
    pattern: `^(?:${changeKinds.join('|')})(?:,(?:${changeKinds.join('|')})){0,2}$`,
    maxLength: 32,
    description: `Only changes of these kinds, separated by commas: ${changeKinds.join(', ')}`,
    'x-rule': `one or more of ${changeKinds.join(', ')}, separated by commas`,
    examples: ['removed', 'added,changed'],
  }),
  field: choice(
    changedFields,
    'Only changed records whose value of this field differs from that at the moment in since; renewal: those with a later expirationDate',
    'status',
  ),
  from: Type.String({
    ...valueOfField,
    description: 'Only records that had this value of field at the moment in since',
    examples: ['ACTIVE'],
  }),
  to: Type.String({
    ...valueOfField,
    description: 'Only records that have this value of field',
    examples: ['DEPLETED'],
  }),
  'import-id': Type.String({
    ...MadeByImport,
    pattern: `^(?:[0-9a-f-]+|${withoutImport})$`,
    description: `Only changes that this import made; ${withoutImport}: only those that no import made`,
    'x-rule': `the id of an import, or ${withoutImport}`,
  }),
} as const;

/** The value of `since` that selects no changes; it is not the encoding of any change token. */
export const sinceNow = 'now';

/** The query parameters of the changes. An unknown or repeated parameter is rejected with 400. */
export function changeParameters(limits: PageLimits) {
  return {
    since: Type.String({
      ...changeToken,
      pattern: `${changeToken.pattern}|^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].*)?$`,
      examples: [...changeToken.examples, '2026-10-31T00:00:00Z'],
      description:
        'Only changes after this change token, or in and after the second of this instant. If absent, all changes from the beginning; with the value now, no changes and the current change token',
      'x-rule': 'a change token, now, a past ISO 8601 date-time with Z, UTC or an offset, or absent to read everything',
    }),
    before: flag(
      'If true, each change also has its kind, time and import, and the record as it was at the moment in since',
    ),
    order: choice(
      changeOrders,
      'oldest: the order in which a copy applies the changes; newest: the newest change first, up to the moment in since',
      'newest',
      changeOrders[0],
    ),
    ...changeFilterParameters,
    fields: fieldsOf('Records and their former versions have', '. A tombstone always has its id'),
    size: Type.Integer({ ...reportParameters(limits).size, description: 'Maximum number of changes in the response' }),
    zone: zoneOf('The time zone of a date without an offset in since'),
  } as const;
}

/** One page of changes. */
export function changesPage(limits: PageLimits) {
  return closed('A page of changes after a change token', {
    changes: Type.Array(Type.Union([Subscription, RemovedSubscription, DescribedSubscription, DescribedRemoval]), {
      maxItems: limits.sizeMax,
      description: 'The changes in order. Apply them in this order: a later change of a record replaces an earlier one',
    }),
    next: Type.String({
      ...changeToken,
      description: 'The change token for the next request. Store it together with the applied changes',
    }),
    has_more: Type.Boolean({
      description: 'Whether more changes are available now; false if the client is up to date',
    }),
  });
}
export type ChangesPage = Static<ReturnType<typeof changesPage>>;
