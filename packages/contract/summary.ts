import type { Static, TProperties, TSchema } from 'typebox';
import { summaryAsOf } from './as-of.ts';
import { Product, ProductId } from './product.ts';
import { filterParameters } from './query.ts';
import { closed, plain, wholeNumber } from './schema.ts';
import { AutoRenew, Status } from './subscription.ts';
import { Type } from './type.ts';
import { answeredZone } from './zone.ts';

/**
 * The dimensions of a summary: fields by the name of their filter, and the days or months of
 * the date that `date-field` selects.
 */
export const summaryGroups = ['status', 'product-id', 'plan-id', 'auto-renew', 'day', 'month'] as const;
export type SummaryGroup = (typeof summaryGroups)[number];

/** The dimensions if `by` is absent. */
export const defaultSummaryGroups: readonly SummaryGroup[] = ['status', 'product-id', 'plan-id', 'auto-renew'];

/**
 * The longest interval of a summary by day: a leap year. It touches one calendar day more if it
 * starts within a day.
 */
export const summaryDaysMax = 366;

const group = `(?:${summaryGroups.join('|')})`;
const { sort: _sort, ...filters } = filterParameters;

/** The query parameters of a summary: the filters of the report, and the dimensions. */
export const summaryParameters = {
  ...filters,
  'date-field': {
    ...filters['date-field'],
    description:
      'The date that the parameters before and after apply to, and that the dimensions day and month count by',
  },
  by: Type.String({
    pattern: `^${group}(?:,${group}){0,${summaryGroups.length - 1}}$`,
    maxLength: 64,
    default: defaultSummaryGroups.join(','),
    description: `Dimensions to count by, separated by commas: ${summaryGroups.join(', ')}. The dimension day requires bounds of the date, such as before and after, at most ${summaryDaysMax} days apart`,
    'x-rule': `one or more of ${summaryGroups.join(', ')}, separated by commas, without repetition`,
    examples: ['status,month', 'product-id'],
  }),
  'as-of': summaryAsOf,
} as const satisfies Record<string, TSchema>;

/** Name of a query parameter of the summary. */
export type SummaryParameter = keyof typeof summaryParameters;

const count = (description: string) => wholeNumber(description, 1140);

const counts = <T extends TProperties>(description: string, members: T) =>
  Type.Optional(
    Type.Array(
      closed('A value and its count', { ...members, count: count('Number of records with this value, at least 1') }),
      { maxItems: Number.MAX_SAFE_INTEGER, description },
    ),
  );

const bucket = (pattern: string, example: string) =>
  Type.String({ pattern, maxLength: 10, description: 'In the time zone of the query', examples: [example] });

/** An explanation as the service gives it. */
export const exampleExplanation = "No subscription of yours has the status 'ACTVE': did you mean 'ACTIVE'?";

/**
 * The counts of a summary. `by` has the requested dimensions, each ordered by value, without values
 * that no record has.
 */
export const SubscriptionSummary = closed('Counts of subscriptions, all from one snapshot', {
  total: count('Number of records that match the filters'),
  explanation: Type.Optional(
    plain(
      4_096,
      'Why no record matches, if no record at all has a status, product or plan of the filters',
      exampleExplanation,
    ),
  ),
  zone: answeredZone,
  by: closed('The requested dimensions; the counts of each add up to total', {
    status: counts('By status; records without a status come last', {
      value: Type.Union([Status, Type.Null()], { description: 'null: records without a status' }),
    }),
    'product-id': counts('By product id', {
      value: ProductId,
      name: Type.Optional(
        Type.String({
          ...Product.properties.name,
          description: 'Name of the product in the record that was created last, whatever the filters',
        }),
      ),
    }),
    'plan-id': counts('By plan id; records whose product has no plan come last', {
      value: Type.Union([{ ...Product.properties.plan_id }, Type.Null()], {
        description: 'null: records whose product has no plan',
      }),
    }),
    'auto-renew': counts('By auto-renew', { value: AutoRenew }),
    day: counts('By day of the date', { value: bucket('^[0-9]{4}-[0-9]{2}-[0-9]{2}$', '2024-05-01') }),
    month: counts('By month of the date', { value: bucket('^[0-9]{4}-[0-9]{2}$', '2024-05') }),
  }),
});
export type SubscriptionSummary = Static<typeof SubscriptionSummary>;
