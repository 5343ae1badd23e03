import type { Static } from 'typebox';
import { CommittedAt } from './history.ts';
import { ProductId } from './product.ts';
import { closed, plain, wholeNumber } from './schema.ts';
import { Iccid, SubscriptionId } from './subscription.ts';
import { Type } from './type.ts';

/** What is looked for, in the order of a response. An import accepts records with all of them. */
export const findingKinds = {
  'no-status': 'Records without a status',
  'no-email': 'Records without an email address of the subscriber, which the filter email does not find',
  'created-after-activation': 'Records whose createdDate is after their activationDate',
  'ends-before-activation': 'Records whose expirationDate is before their activationDate',
  'active-past-end': 'ACTIVE records whose expirationDate is before evaluated_at',
  'period-zero': 'Records whose product has the period 0',
  'iccid-active-twice': 'ICCIDs with two or more ACTIVE records',
  'device-on-two-sims': 'Devices whose ACTIVE records have two or more ICCIDs',
  'product-with-two-names': 'Product ids whose records have two or more names',
  'iccid-rounded':
    'Records whose ICCID has only zeros from the 16th of 19 or more digits, as a spreadsheet rounds it; 0 if they are fewer than 5, or than 1 of 1,000',
  'iccid-check-digit':
    'Other records whose ICCID does not fit its check digit (Luhn), of the lengths of which most fit',
  'iccid-lengths': 'Records whose ICCID has a length that at most 1 of 20 records have; 0 if they are fewer than 5',
} as const;

/** Most examples of a kind, and most ids of an example. */
const findingExamplesMax = 10;

const instant = { ...CommittedAt, examples: ['2026-10-31T02:00:00Z'] };

const FindingExample = closed('One finding: a record, or what several records have in common and these records', {
  iccid: Type.Optional(Iccid),
  device_id: Type.Optional(plain(128, 'The device', 'device-000417')),
  product_id: Type.Optional(ProductId),
  ids: Type.Array(SubscriptionId, {
    minItems: 1,
    maxItems: findingExamplesMax,
    description: 'Records that have it, ordered by id; for a product, one record of each name',
  }),
});

const SubscriptionFinding = closed('The records of one kind of finding', {
  kind: Type.String({
    enum: Object.keys(findingKinds),
    maxLength: 32,
    description: Object.entries(findingKinds)
      .map(([kind, description]) => `${kind}: ${description}`)
      .join('. '),
  }),
  count: wholeNumber('Number of records, ICCIDs, devices or product ids; exact', 3),
  since: Type.Optional(
    Type.String({
      ...instant,
      description:
        'Since when there has been at least one of them, as far as the service knows. It knows when it committed the present versions of the records; for active-past-end, the earliest end. Absent if there is none, or if that was before the kept history',
    }),
  ),
  examples: Type.Array(FindingExample, {
    maxItems: findingExamplesMax,
    description: 'The first of them: records in the order -createdDate, others by value',
  }),
});

/** What is contradictory or missing in a tenant's records. */
export const SubscriptionFindings = closed('Findings in the subscriptions, all from one snapshot', {
  total: wholeNumber('Number of records that were examined: all of yours', 1140),
  evaluated_at: Type.String({
    ...instant,
    description: 'Ends before this instant have passed: the beginning of the current hour (UTC)',
  }),
  changed_at: Type.Optional(
    Type.String({
      ...instant,
      description: 'When a record was last added, changed or removed. Absent if that was before the kept history',
    }),
  ),
  findings: Type.Array(SubscriptionFinding, {
    minItems: Object.keys(findingKinds).length,
    maxItems: Object.keys(findingKinds).length,
    description: 'Every kind, also without records, in a fixed order',
  }),
});
export type SubscriptionFindings = Static<typeof SubscriptionFindings>;
