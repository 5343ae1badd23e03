import Type, { type TSchema } from 'typebox';
import { durationDaysMax, durationPattern } from './duration.ts';
import { Email } from './email.ts';
import { ProductId } from './product.ts';
import { formatWords } from './report-format.ts';
import { AutoRenew, Iccid, knownStatuses, statusWord } from './subscription.ts';

/**
 * Bounds of paging that an operator may set; `spec.md` "Query parameters" leaves them open
 * (`docs/decisions/page-size.md`).
 */
export interface PageLimits {
  /** Records on a page when `size` is not given. */
  readonly sizeDefault: number;
  /** The largest `size`; above it is a 400, never a silent clamp. */
  readonly sizeMax: number;
  /** Number of the first page: 1, or 0 for clients of a 0-based source. */
  readonly firstPage: 0 | 1;
}

/** The bounds of a service whose operator set none. */
export const defaultPageLimits: PageLimits = { sizeDefault: 20, sizeMax: 1000, firstPage: 1 };

/** The largest page number that can be asked for: a bound on the request, not on the report. */
export const pageMax = 1_000_000_000;

/**
 * The dates of a record by the word that chooses one: value of `date-field`, and name of the
 * record's field for `sort`.
 */
export const dateFields = {
  created: 'createdDate',
  activation: 'activationDate',
  expiration: 'expirationDate',
} as const;
export type DateField = keyof typeof dateFields;

/** Every value of `sort`: a date ascending, or descending with `-` before it. */
export const sortValues = Object.values(dateFields).flatMap((name) => [name, `-${name}`] as const);
export type SortValue = (typeof sortValues)[number];

const dateTime = (description: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 40,
    description,
    'x-rule': 'an ISO 8601 date-time with Z or an offset',
    examples: ['2024-05-01T00:00:00Z', '2024-05-01T00:00:00.002Z'],
  });

const statusListPattern = `^${statusWord}(,${statusWord}){0,15}$`;

/** The parameters that choose records and their order. */
export const filterParameters = {
  iccid: Type.String({ ...Iccid, description: 'Only subscriptions of this ICCID' }),
  email: Type.String({
    ...Email,
    description: 'Only subscriptions of this subscriber: an e-mail address or identifier, compared without case',
  }),
  'product-id': Type.String({ ...ProductId, description: 'Only subscriptions with this product id' }),
  status: Type.String({
    pattern: statusListPattern,
    maxLength: 512,
    description: `Only subscriptions in this state, or in one of several, separated by commas. Known: ${knownStatuses.join(', ')}`,
    'x-rule': 'upper-case words separated by commas',
    examples: ['ACTIVE', 'ACTIVE,DEPLETED'],
  }),
  before: dateTime('Only subscriptions whose date is before this instant (<)'),
  after: dateTime('Only subscriptions whose date is after this instant (>)'),
  'date-field': Type.String({
    enum: Object.keys(dateFields),
    maxLength: 16,
    default: 'created',
    description: 'The date that before and after are compared with',
    'x-rule': `one of ${Object.keys(dateFields).join(', ')}`,
    examples: ['created'],
  }),
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
    description: 'Only subscriptions that renew themselves (true), or only those that do not (false)',
    'x-rule': 'true or false',
  }),
  'created-from': dateTime('Only subscriptions created at this instant or later (>=), whatever date-field says'),
  'created-to': dateTime('Only subscriptions created before this instant (<), whatever date-field says'),
  'expires-within': Type.String({
    pattern: durationPattern,
    maxLength: 32,
    description:
      'Only subscriptions that end between now and so long from now: expirationDate > now and <= now + this. A walk by cursor keeps the moment of its first page',
    'x-rule': `a length of time in hours, days or weeks, or of ISO 8601 without months and years, up to ${durationDaysMax} days`,
    examples: ['7d', 'P7D', '12h'],
  }),
  sort: Type.String({
    enum: [...sortValues],
    maxLength: 16,
    default: 'createdDate',
    description: 'The order: a date ascending, or descending with - before it; records of one date are ordered by id',
    'x-rule': `one of ${sortValues.join(', ')}`,
    examples: ['createdDate'],
  }),
} as const satisfies Record<string, TSchema>;

/** Position and form of the answer, as far as no operator's bounds apply. */
const answerParameters = {
  cursor: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,512}$',
    maxLength: 512,
    description:
      'Position in the order, taken from X-Next-Page or X-Previous-Page; only together with the query it came from',
    'x-rule': 'the cursor of an X-Next-Page or X-Previous-Page header, unchanged, with the query it came from',
    examples: ['eyJvIjoiMSJ9'],
  }),
  format: Type.String({
    enum: [...formatWords],
    maxLength: 6,
    default: 'json',
    description: 'The form of the answer; without it, the Accept header decides',
    'x-rule': `one of ${formatWords.join(', ')}`,
    examples: ['csv'],
  }),
  all: Type.String({
    enum: ['true', 'false'],
    maxLength: 5,
    default: 'false',
    description: 'true streams the whole report of one moment instead of a page, as CSV or NDJSON',
    'x-rule': 'true or false',
    examples: ['true'],
  }),
} as const satisfies Record<string, TSchema>;

/**
 * The query parameters of the report, in the order of the documentation (`spec.md` "Query
 * parameters" and what it leaves open). All are optional; filters combine to narrow the report. A
 * name that is not here, or that stands twice, is a 400.
 */
export function reportParameters(limits: PageLimits): ReturnType<typeof buildParameters> {
  const parameters = parametersOf.get(limits) ?? buildParameters(limits);
  parametersOf.set(limits, parameters); // building schemas for each request took a twentieth of it
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
      'x-rule': `a whole number from ${minimum} to ${maximum}`,
      examples: [fallback],
    });
  return {
    ...filterParameters,
    size: wholeNumber(1, limits.sizeMax, limits.sizeDefault, 'Page size: records on a page'),
    page: wholeNumber(limits.firstPage, pageMax, limits.firstPage, 'Page number'),
    ...answerParameters,
  } as const satisfies Record<string, TSchema>;
}

/** Name of a query parameter of the report. */
export type ReportParameter = keyof ReturnType<typeof buildParameters>;
