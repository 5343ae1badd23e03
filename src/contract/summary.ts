import Type, { type Static, type TSchema } from 'typebox';
import { Product, ProductId } from './product.ts';
import { filterParameters } from './query.ts';
import { AutoRenew, Status } from './subscription.ts';

/**
 * What a summary counts by: fields by the name of their filter, and the days or months of the date
 * that `date-field` chooses, in UTC.
 */
export const summaryGroups = ['status', 'product-id', 'plan-id', 'auto-renew', 'day', 'month'] as const;
export type SummaryGroup = (typeof summaryGroups)[number];

/** What is counted by when `by` is left out. */
export const defaultSummaryGroups: readonly SummaryGroup[] = ['status', 'product-id', 'plan-id', 'auto-renew'];

/**
 * The longest span that can be counted by day, in days: a leap year. It touches one calendar day
 * more when it begins within a day.
 */
export const summaryDaysMax = 366;

const group = `(?:${summaryGroups.join('|')})`;
const { sort: _sort, ...filters } = filterParameters;

/** The query parameters of a summary: the filters of the report, and what to count by. */
export const summaryParameters = {
  ...filters,
  'date-field': {
    ...filters['date-field'],
    description: 'The date that before and after are compared with, and that day and month are of',
  },
  by: Type.String({
    pattern: `^${group}(?:,${group}){0,${summaryGroups.length - 1}}$`,
    maxLength: 64,
    default: defaultSummaryGroups.join(','),
    description: `What to count by, one or several of ${summaryGroups.join(', ')}, separated by commas. day needs bounds of its date at most ${summaryDaysMax} days apart`,
    'x-rule': `one or several of ${summaryGroups.join(', ')}, separated by commas, each once`,
    examples: ['status,month', 'product-id'],
  }),
} as const satisfies Record<string, TSchema>;

/** Name of a query parameter of the summary. */
export type SummaryParameter = keyof typeof summaryParameters;

const count = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, format: 'int64', description, examples: [1140] });

const counts = <T extends TSchema>(description: string, value: T) =>
  Type.Optional(
    Type.Array(
      Type.Object(
        { value, count: count('Records with this value, at least one') },
        { additionalProperties: false, description: 'A value and its count' },
      ),
      { maxItems: Number.MAX_SAFE_INTEGER, description },
    ),
  );

const bucket = (pattern: string, example: string) =>
  Type.String({ pattern, maxLength: 10, description: 'In UTC', examples: [example] });

/**
 * The counts of a summary. `by` has the groups that were asked for, each ordered by value; only
 * values that a record has stand in it.
 */
export const SubscriptionSummary = Type.Object(
  {
    total: count('All records that the filters let through'),
    by: Type.Object(
      {
        status: counts(
          'By status; records without one come last',
          Type.Union([Status, Type.Null()], { description: 'null: records without a status' }),
        ),
        'product-id': counts('By product id', ProductId),
        'plan-id': counts('By plan id', Product.properties.plan_id),
        'auto-renew': counts('By auto-renew', AutoRenew),
        day: counts('By day of the date', bucket('^[0-9]{4}-[0-9]{2}-[0-9]{2}$', '2024-05-01')),
        month: counts('By month of the date', bucket('^[0-9]{4}-[0-9]{2}$', '2024-05')),
      },
      {
        additionalProperties: false,
        description: 'The groups that were asked for; the counts of each add up to total',
      },
    ),
  },
  { additionalProperties: false, description: 'Counts of subscriptions, all of one moment' },
);
export type SubscriptionSummary = Static<typeof SubscriptionSummary>;
