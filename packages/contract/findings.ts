import type { Static } from 'typebox';
import { CommittedAt } from './history.ts';
import { ProductId } from './product.ts';
import { plainText } from './schema.ts';
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

const FindingExample = Type.Object(
  {
    iccid: Type.Optional(Iccid),
    device_id: Type.Optional(
      Type.String({ maxLength: 128, pattern: plainText, description: 'The device', examples: ['device-000417'] }),
    ),
    product_id: Type.Optional(ProductId),
    ids: Type.Array(SubscriptionId, {
      minItems: 1,
      maxItems: findingExamplesMax,
      description: 'Records that have it, ordered by id; for a product, one record of each name',
    }),
  },
  {
    additionalProperties: false,
    description: 'One finding: a record, or what several records have in common and these records',
  },
);

const SubscriptionFinding = Type.Object(
  {
    kind: Type.String({
      enum: Object.keys(findingKinds),
      maxLength: 32,
      description: Object.entries(findingKinds)
        .map(([kind, description]) => `${kind}: ${description}`)
        .join('. '),
    }),
    count: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      format: 'int64',
      description: 'Number of records, ICCIDs, devices or product ids; exact',
      examples: [3],
    }),
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
  },
  { additionalProperties: false, description: 'The records of one kind of finding' },
);

/** What is contradictory or missing in a tenant's records. */
export const SubscriptionFindings = Type.Object(
  {
    total: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      format: 'int64',
      description: 'Number of records that were examined: all of yours',
      examples: [1140],
    }),
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
  },
  { additionalProperties: false, description: 'Findings in the subscriptions, all from one snapshot' },
);
export type SubscriptionFindings = Static<typeof SubscriptionFindings>;
