import type { TSchema } from 'typebox';
import { exportAsOf } from './as-of.ts';
import { durationDaysMax, durationPattern } from './duration.ts';
import { fieldsOf } from './fields.ts';
import { ProductId } from './product.ts';
import { formatWords, type PageLimits } from './report.ts';
import { choice, dateTimeRule, flag } from './schema.ts';
import {
  AutoRenew,
  Email,
  Iccid,
  knownStatuses,
  noStatus,
  SubscriptionId,
  statusFilterPattern,
} from './subscription.ts';
import { Type } from './type.ts';
import { zoneParameter } from './zone.ts';

/** The largest page number that a request may contain; it does not limit the report. */
const pageMax = 1_000_000_000;

/** Values of `date-field`, with the field of the record that each selects. */
export const dateFields = {
  created: 'createdDate',
  activation: 'activationDate',
  expiration: 'expirationDate',
} as const;
export type DateField = keyof typeof dateFields;

/** Values of `sort`: a date field, ascending, or descending with the prefix `-`. */
export const sortValues = Object.values(dateFields).flatMap((name) => [name, `-${name}`] as const);
export type SortValue = (typeof sortValues)[number];

const instantPattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].*)?$';

export const dateTime = (description: string) =>
  Type.String({
    pattern: instantPattern,
    maxLength: 40,
    description,
    'x-rule': dateTimeRule,
    examples: ['2024-05-01T00:00:00Z', '2024-05-01T00:00:00.002Z'],
  });

const statusListPattern = `^${statusFilterPattern}(,${statusFilterPattern}){0,15}$`;

/** The parameters that filter and order the records. */
export const filterParameters = {
  id: Type.String({ ...SubscriptionId, description: 'Only the subscription with this id' }),
  iccid: Type.String({ ...Iccid, description: 'Only subscriptions of this ICCID' }),
  email: Type.String({
    ...Email,
    description:
      'Only subscriptions of this subscriber: an email address or identifier, case-insensitive; + in a URL is %2B',
  }),
  'product-id': Type.String({ ...ProductId, description: 'Only subscriptions with this product id' }),
  status: Type.String({
    pattern: statusListPattern,
    maxLength: 16 * 65 + 15,
    description: `Only subscriptions with one of these statuses, compared exactly, separated by commas; ${noStatus} selects those without a status, \\${noStatus} those with the text ${noStatus}. Known statuses: ${knownStatuses.join(', ')}`,
    'x-rule': `at most 16 statuses separated by commas, each of 1 to 64 printable characters, or ${noStatus} for no status`,
    examples: ['ACTIVE', 'ACTIVE,DEPLETED', noStatus],
  }),
  before: dateTime('Only subscriptions whose date is before this instant (<)'),
  after: dateTime('Only subscriptions whose date is after this instant (>)'),
  'date-field': choice(Object.keys(dateFields), 'The date that before and after apply to', 'created', 'created'),
  'device-id': Type.String({
    ...ProductId,
    description: 'Only subscriptions of this device',
    examples: ['device-000417'],
  }),
  'plan-id': Type.String({
    ...ProductId,
    description: 'Only subscriptions whose product has this plan id',
    examples: ['cGxhbi1ldXJvcGU'],
  }),
  'auto-renew': Type.String({
    ...AutoRenew,
    description: 'Only subscriptions that renew automatically (true), or only those that do not (false)',
    'x-rule': 'true or false',
  }),
  'created-from': dateTime('Only subscriptions created at or after this instant (>=), independent of date-field'),
  'created-to': dateTime('Only subscriptions created before this instant (<), independent of date-field'),
  'expires-within': Type.String({
    pattern: durationPattern,
    maxLength: 32,
    description:
      'Only subscriptions that expire within this duration from now: now < expirationDate <= now + duration. A cursor keeps the time of the first page as now',
    'x-rule': `a duration in hours, days or weeks, or an ISO 8601 duration without years and months, of at most ${durationDaysMax} days`,
    examples: ['7d', 'P7D', '12h'],
  }),
  sort: choice(
    sortValues,
    'A date field, ascending, or descending with the prefix -; equal dates are ordered by id',
    'createdDate',
    'createdDate',
  ),
  zone: zoneParameter,
} as const satisfies Record<string, TSchema>;

/** The parameters whose values are instants. */
export const instantParameters: ReadonlySet<string> = new Set(
  Object.entries(filterParameters).flatMap(([name, schema]) =>
    'pattern' in schema && schema.pattern === instantPattern ? [name] : [],
  ),
);

/** The parameters whose values are instants, or positions in the history. */
export const momentParameters: ReadonlySet<string> = new Set(['as-of', 'since', 'until']);

/** Position and format of the response: the parameters without configurable limits. */
const answerParameters = {
  cursor: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,512}$',
    maxLength: 512,
    description:
      'Position in the report, from X-Next-Page or X-Previous-Page; valid only with the query that it came from',
    'x-rule': 'the cursor of the following or the previous page, unchanged, with the query that it came from',
    examples: ['WzEsMSwxNzE0NTUwNDAwLCJhIiwyLCI3MGVycnJpIl0'],
  }),
  format: choice(
    formatWords,
    'Format of the response; parquet only with all=true. If absent, the Accept header decides',
    'csv',
    'json',
  ),
  fields: fieldsOf('Returns', '. CSV and Parquet have their columns in this order'),
  dates: choice(
    ['utc', 'local'],
    'Dates of CSV: in UTC, or local in zone, which must be given: 2024-05-01T10:00:00+02:00',
    'local',
    'utc',
  ),
  all: flag('If true, streams the whole report from one snapshot instead of one page, as CSV, NDJSON or Parquet'),
  'as-of': exportAsOf,
} as const satisfies Record<string, TSchema>;

/**
 * The query parameters of the report, in the order of the documentation (`spec.md` "Query
 * parameters", and what it leaves open). All are optional; filters are combined with AND. An
 * unknown or repeated parameter is rejected with 400.
 */
export function reportParameters(limits: PageLimits): ReturnType<typeof buildParameters> {
  const parameters = parametersOf.get(limits) ?? buildParameters(limits);
  parametersOf.set(limits, parameters); // building the schemas took 5 % of each request
  return parameters;
}

const parametersOf = new WeakMap<PageLimits, ReturnType<typeof buildParameters>>();

function buildParameters(limits: PageLimits) {
  const wholeNumber = (minimum: number, maximum: number, fallback: number, description: string) =>
    Type.Integer({
      minimum,
      maximum,
      default: fallback,
      format: 'int32',
      description,
      'x-rule': `an integer from ${minimum} to ${maximum}`,
      examples: [fallback],
    });
  return {
    ...filterParameters,
    size: wholeNumber(1, limits.sizeMax, limits.sizeDefault, 'Page size: records per page'),
    page: wholeNumber(limits.firstPage, pageMax, limits.firstPage, 'Page number'),
    ...answerParameters,
  } as const satisfies Record<string, TSchema>;
}

/** Name of a query parameter of the report. */
export type ReportParameter = keyof ReturnType<typeof buildParameters>;
