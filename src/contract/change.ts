import type { Static } from 'typebox';
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
      description:
        'Only changes after this change token. If absent, all changes from the beginning; with the value now, no changes and the current change token',
      'x-rule':
        'absent, to read everything from the beginning; now, to get the current change token; or the value of next from an earlier response, unchanged',
    }),
    size: Type.Integer({ ...reportParameters(limits).size, description: 'Maximum number of changes in the response' }),
  } as const;
}

/** One page of changes. */
export function changesPage(limits: PageLimits) {
  return Type.Object(
    {
      changes: Type.Array(Type.Union([Subscription, RemovedSubscription]), {
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
