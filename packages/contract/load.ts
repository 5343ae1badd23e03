import type { Static, TSchema } from 'typebox';
import type { Operation } from './operations.ts';
import { reportFormats } from './report.ts';
import { closed, flag, plain, plainText, printable, wholeNumber } from './schema.ts';
import { Subscription } from './subscription.ts';
import { Type } from './type.ts';

/** The query parameters of `loadSubscriptions` that are true or false. */
export const loadFlags = {
  replace: flag(
    'If true, the body replaces all records of the tenant in one transaction; records that are not in it are removed. An invalid row or an incomplete body changes nothing',
  ),
  strict: flag('If true, all rows are loaded in one transaction, or none if one is invalid'),
  'dry-run': flag(
    'If true, every row is checked and nothing is changed. With replace or strict, the counts say what would change',
  ),
} as const satisfies Record<string, TSchema>;

/** The options of an import that the history shows. */
export const importFlags = ['replace', 'strict', 'dry-run', 'remove', 'columns'] as const;

/** Most characters of a mapping of columns: in a query string, each may take three. */
export const mappingMax = 2_048;

/** The value of `columns` for the mapping that is saved for the tenant. */
export const savedMapping = 'saved';

const mappingText = {
  minLength: 2,
  maxLength: mappingMax,
  pattern: plainText,
  'x-rule': "JSON with 'columns', 'constants' and 'values' by the names of fields",
  examples: ['{"columns":{"status":"ST"},"constants":{"auto_renew":"false"},"values":{"status":{"A":"ACTIVE"}}}'],
};

/** A mapping of columns as JSON. */
export const mappingJson = Type.String({
  ...mappingText,
  'x-rule': `a string that contains ${mappingText['x-rule']}`,
  description:
    'Which columns of CSV are which fields, values of fields that it lacks, and what its values mean; {} for none',
});

/** The same, or `null`. */
export const nullableMapping = (description: string) =>
  Type.Union([Type.String(mappingText), Type.Null()], { description, examples: [null] });

/** The query parameters of `loadSubscriptions`. All are optional. */
export const loadParameters = {
  ...loadFlags,
  remove: {
    ...wholeNumber(
      'The number of records that are removed. Required with replace=true if it is all records of the tenant, or more than half and at least 20 of them; otherwise the response is 409 and names the number',
      600,
    ),
    'x-rule': 'a whole number of records',
  },
  columns: Type.String({
    ...mappingText,
    'x-rule': `${mappingText['x-rule']}, or ${savedMapping}, of at most ${mappingMax} characters`,
    description: `Which columns of CSV are which fields, values of fields that it lacks, and what its values mean; or ${savedMapping}, for the mapping that is saved for the tenant. Other columns are ignored. If absent, each column has the name of its field`,
  }),
} as const satisfies Record<string, TSchema>;

/** The operation `loadSubscriptions`. */
export const loadOperation = {
  method: 'PUT',
  path: '/operator/v1/tenants/{tenant}/subscriptions',
  tag: 'records',
  summary: 'Load the records of a tenant',
  description:
    "Requires an operator's token with the scope subscription:write, for any tenant, or an access token of a client with this scope, for its own tenant. Validates and loads the records of the body, as NDJSON or CSV, plain or compressed with gzip or zstd. A body that is incomplete or cannot be read to its end changes nothing. By default, valid rows are loaded and invalid rows are listed in the response; with strict=true or replace=true, an invalid row rejects the whole body. The request is idempotent: repeating it changes nothing.",
} as const satisfies Operation;

/** The media types of a load's body, by format. */
export const loadMediaTypes = {
  ndjson: reportFormats.ndjson.mediaType,
  csv: reportFormats.csv.mediaType,
} as const;

/** Name of a query parameter of `loadSubscriptions` that is true or false. */
export type LoadFlag = keyof typeof loadFlags;

/** Most rejected rows that a response lists. */
export const rejectedRowsShown = 100;

const fieldFault = closed('An invalid field of a row', {
  field: plain(256, 'Name of the field; empty if the row as a whole is invalid', 'iccid'),
  value: Type.Union([Type.String({ maxLength: 1024 }), Type.Null()], {
    description: 'The value as JSON, shortened; null if there is none, or if it is personal data',
    examples: ['"89445"'],
  }),
  rule: Type.String({
    maxLength: 1024,
    description: 'The rule that the value breaks, with a valid example',
    examples: ['15 to 22 digits, such as 8944500102198304826'],
  }),
});

/** A row that was not loaded. */
export const RejectedRow = closed('A row that was not loaded', {
  line: wholeNumber('Line of the body, from 1', 2, 1),
  errors: Type.Array(fieldFault, { maxItems: 256, description: 'All errors of the row' }),
});
export type RejectedRow = Static<typeof RejectedRow>;

/** What became of the rows of a load that has ended. */
export const loadOutcomes = ['loaded', 'loaded-with-rejects', 'checked', 'checked-with-rejects', 'failed'] as const;
type LoadOutcome = (typeof loadOutcomes)[number];

/** What `outcomeOf` looks at. `refused` is present if nothing was loaded because of the rows. */
interface EndedLoad {
  readonly read: number;
  readonly rejected: number;
  readonly dryRun: boolean;
  readonly refused?: unknown;
}

/** The outcome of a load that has ended: it has failed as well if every row was rejected. */
export function outcomeOf({ read, rejected, dryRun, refused }: EndedLoad): LoadOutcome {
  if (refused !== undefined || (read > 0 && rejected === read)) return 'failed';
  if (dryRun) return rejected > 0 ? 'checked-with-rejects' : 'checked';
  return rejected > 0 ? 'loaded-with-rejects' : 'loaded';
}

/** What each outcome means, for descriptions of schemas. */
export const outcomeMeanings =
  'loaded: all rows; loaded-with-rejects: all but the rejected rows; checked and checked-with-rejects: the same for a dry run, which loads nothing; failed: an error, or every row was rejected';

/** The result of a load. */
export const LoadSummary = closed('What a load did', {
  tenant: plain(256, 'The tenant', 'acme'),
  import_id: Type.String({
    format: 'uuid',
    maxLength: 36,
    description: 'Id of the load in the history of imports',
    examples: ['01890a5d-ac96-774b-bcce-b302099a8057'],
  }),
  dry_run: Type.Boolean({ description: 'Whether nothing was changed because of dry-run=true' }),
  outcome: Type.Enum(loadOutcomes, {
    type: 'string',
    maxLength: 20,
    description: `What became of the rows. ${outcomeMeanings}`,
    'x-rule': `one of ${loadOutcomes.join(', ')}`,
    examples: ['loaded-with-rejects'],
  }),
  encoding: Type.Optional(printable(64, 'The encoding of the body; absent if it was read as UTF-8', 'windows-1250')),
  read: wholeNumber('Rows of the body', 3),
  skipped: wholeNumber('Further rows of CSV without a record: of empty cells, or the header once more', 0),
  accepted: wholeNumber('Valid rows', 2),
  rejected: wholeNumber('Invalid rows', 1),
  inserted: wholeNumber('Records that were added', 2),
  updated: wholeNumber('Records that were changed', 0),
  unchanged: wholeNumber('Rows that equal the stored record', 0),
  removed: Type.Optional(wholeNumber('Records that were removed; present only with replace=true', 0)),
  seconds: Type.Number({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'double',
    description: 'Duration of the load in seconds',
    examples: [0.011],
  }),
  errors: Type.Array(RejectedRow, {
    maxItems: rejectedRowsShown,
    description: `The first ${rejectedRowsShown} rejected rows`,
  }),
  notes: Type.Optional(
    Type.Array(plain(1_024, 'A sentence', 'Read 1 and 0 as true and false'), {
      maxItems: 8,
      description: 'What was read that is written in another way than in reports; absent if nothing was',
    }),
  ),
  first_records: Type.Optional(
    Type.Array(Subscription, {
      maxItems: 3,
      description: 'The first valid rows as they would be stored; present only with dry-run=true',
    }),
  ),
  correlation_id: printable(
    256,
    'The X-Correlation-ID of the request, or a generated one',
    '9f8a6c1e-4b07-4f7e-9a53-3f1f2f6a7c10',
  ),
});
export type LoadSummary = Static<typeof LoadSummary>;
