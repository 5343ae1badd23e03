import type { Static } from 'typebox';
import { asOf } from './as-of.ts';
import { fieldsOf } from './fields.ts';
import { closed, utcTime, wholeNumber } from './schema.ts';
import { Subscription, SubscriptionId } from './subscription.ts';
import { Type } from './type.ts';
import { zoneOf } from './zone.ts';

/** The parameters of one subscription. */
export const subscriptionParameters = {
  fields: fieldsOf('Returns'),
  'as-of': asOf('The subscription as the service knew it'),
  zone: zoneOf('The time zone of a date without an offset in as-of'),
} as const;

/** What happened to a record since the moment that a request names. */
export const changeKinds = ['added', 'changed', 'removed'] as const;
export type ChangeKind = (typeof changeKinds)[number];

export const CommittedAt = Type.String({
  ...utcTime,
  description: 'When the service committed the change; absent if that was before the kept history',
  examples: ['2026-10-31T02:00:04Z'],
});

/** The import that made a change or a version. */
export const MadeByImport = Type.String({
  maxLength: 64,
  pattern: '^[0-9a-f-]+$',
  description: 'The import that made it; absent if none did, or if that was before the kept history',
  examples: ['01890a5d-ac96-774b-bcce-b302099a8057'],
});

/** Most versions of one record that a response has. */
export const versionsMax = 1_024;

const version = {
  revision: wholeNumber('The revision of your records that made this version', 42),
  committed_at: Type.Optional(CommittedAt),
  import_id: Type.Optional(MadeByImport),
};

/** A version of a record, its removal, or an erased version. */
const SubscriptionVersion = Type.Union(
  [
    closed('A version of the record', { ...version, record: Subscription }),
    closed('The removal of the record', {
      ...version,
      removed: Type.Literal(true, { description: 'Always true; distinguishes a removal from a version' }),
    }),
    closed('An erased version of the record', {
      ...version,
      erased: Type.Literal(true, {
        description:
          'Always true: versions that began with this revision have been erased, so the record is unknown until the next entry',
      }),
    }),
  ],
  { description: 'A version of the record, its removal, or an erased version' },
);

/** The history of one record. */
export const SubscriptionHistory = closed('The versions of one subscription, newest first', {
  id: SubscriptionId,
  versions: Type.Array(SubscriptionVersion, {
    maxItems: versionsMax,
    description: `The versions that are kept, newest first; at most ${versionsMax}`,
  }),
  has_more: Type.Boolean({
    description: 'Whether older versions are kept that are not in this response; as-of reads them one by one',
  }),
});
export type SubscriptionHistory = Static<typeof SubscriptionHistory>;
