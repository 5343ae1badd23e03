import type { Static } from 'typebox';
import { CommittedAt, changeKinds, MadeByImport } from './history.ts';
import { reportParameters } from './query.ts';
import type { PageLimits } from './report.ts';
import { Subscription, SubscriptionId } from './subscription.ts';
import { Type } from './type.ts';

/** A tombstone: the record of this id was removed. Records never have a member `removed`. */
export const RemovedSubscription = Type.Object(
  {
    id: SubscriptionId,
    removed: Type.Literal(true, { description: 'Always true; distinguishes a tombstone from a record' }),
  },
  { additionalProperties: false, description: 'A tombstone: the subscription of this id was removed' },
);
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

const former = (description: string) => Type.Optional({ ...Subscription, description });

/** A record that was added or changed, with its former version: a change with `before=true`. */
export const DescribedSubscription = Type.Object(
  {
    ...Subscription.properties,
    ...described,
    before: former('The record at the moment in since; absent if it was added, or if its former versions were erased'),
  },
  { additionalProperties: false, description: 'The current version of a subscription, and what it was' },
);

/** A tombstone with the former version: a change with `before=true`. */
export const DescribedRemoval = Type.Object(
  {
    ...RemovedSubscription.properties,
    ...described,
    before: former('The record at the moment in since; absent if its former versions were erased'),
  },
  { additionalProperties: false, description: 'A tombstone, and what the subscription was' },
);

/** The last change of a record: its current version, or a tombstone. */
export type SubscriptionChange = Subscription | RemovedSubscription;

const changeToken = {
  pattern: '^[A-Za-z0-9_-]{1,512}$',
  maxLength: 512,
  examples: ['WzEsNDIsIiIsIjFuNHA5cSJd'],
};

/** The value of `since` that selects no changes; it is not the encoding of any change token. */
export const sinceNow = 'now';

/** The query parameters of the changes. An unknown or repeated parameter is rejected with 400. */
export function changeParameters(limits: PageLimits) {
  return {
    since: Type.String({
      ...changeToken,
      pattern: `${changeToken.pattern}|^[0-9]{4}-[0-9]{2}-[0-9]{2}T.*$`,
      examples: [...changeToken.examples, '2026-10-31T00:00:00Z'],
      description:
        'Only changes after this change token, or in and after the second of this instant. If absent, all changes from the beginning; with the value now, no changes and the current change token',
      'x-rule':
        'absent, to read everything from the beginning; now, to get the current change token; the value of next from an earlier response, unchanged; or an ISO 8601 date-time with Z or an offset that is not in the future',
    }),
    before: Type.String({
      enum: ['true', 'false'],
      maxLength: 5,
      default: 'false',
      description:
        'If true, each change also has its kind, time and import, and the record as it was at the moment in since',
      'x-rule': 'true or false',
      examples: ['true'],
    }),
    kind: Type.String({
      pattern: `^(?:${changeKinds.join('|')})(?:,(?:${changeKinds.join('|')})){0,2}$`,
      maxLength: 32,
      description: `Only changes of these kinds, separated by commas: ${changeKinds.join(', ')}. A page may then have fewer changes than size, also none, while has_more is true`,
      'x-rule': `one or more of ${changeKinds.join(', ')}, separated by commas`,
      examples: ['removed', 'added,changed'],
    }),
    size: Type.Integer({ ...reportParameters(limits).size, description: 'Maximum number of changes in the response' }),
  } as const;
}

/** One page of changes. */
export function changesPage(limits: PageLimits) {
  return Type.Object(
    {
      changes: Type.Array(Type.Union([Subscription, RemovedSubscription, DescribedSubscription, DescribedRemoval]), {
        maxItems: limits.sizeMax,
        description:
          'The changes in order. Apply them in this order: a later change of a record replaces an earlier one',
      }),
      next: Type.String({
        ...changeToken,
        description: 'The change token for the next request. Store it together with the applied changes',
      }),
      has_more: Type.Boolean({
        description: 'Whether more changes are available now; false if the client is up to date',
      }),
    },
    { additionalProperties: false, description: 'A page of changes after a change token' },
  );
}
export type ChangesPage = Static<ReturnType<typeof changesPage>>;
