import Type, { type Static } from 'typebox';
import { type PageLimits, reportParameters } from './query.ts';
import { Subscription, SubscriptionId } from './subscription.ts';

/** What is left of a record that was removed: a tombstone. No record has a member `removed`. */
export const RemovedSubscription = Type.Object(
  {
    id: SubscriptionId,
    removed: Type.Literal(true, { description: 'Always true: this tells a tombstone from a record' }),
  },
  { additionalProperties: false, description: 'A tombstone: the subscription of this id was removed' },
);
export type RemovedSubscription = Static<typeof RemovedSubscription>;

/** The last change of one record: the record as it is now, or its tombstone. */
export type SubscriptionChange = Subscription | RemovedSubscription;

const changeToken = {
  pattern: '^[A-Za-z0-9_-]{1,512}$',
  maxLength: 512,
  examples: ['WzEsNDIsIiIsIjFuNHA5cSJd'],
};

/** The query parameters of the changes. A name that is not here, or that stands twice, is a 400. */
export function changeParameters(limits: PageLimits) {
  return {
    since: Type.String({
      ...changeToken,
      description: 'Only what changed after this token; without it, everything from the beginning',
      'x-rule': 'the next of an earlier answer, unchanged, or left out to read everything from the beginning',
    }),
    size: Type.Integer({ ...reportParameters(limits).size, description: 'Changes in one answer, at most' }),
  } as const;
}

/** One answer of the changes. */
export function changesPage(limits: PageLimits) {
  return Type.Object(
    {
      changes: Type.Array(Type.Union([Subscription, RemovedSubscription]), {
        maxItems: limits.sizeMax,
        description: 'In their order: apply them in it, the later one of a record wins',
      }),
      next: Type.String({ ...changeToken, description: 'The token to go on from: keep it with what was applied' }),
      has_more: Type.Boolean({
        description: 'Whether changes behind these are there already; false when you have caught up',
      }),
    },
    { additionalProperties: false, description: 'What changed after a token' },
  );
}
export type ChangesPage = Static<ReturnType<typeof changesPage>>;
