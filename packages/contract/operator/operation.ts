import type { TObject, TSchema } from 'typebox';
import type { OperatorScope } from '../oauth/grant.ts';
import type { Operation } from '../operations.ts';
import { closed, plainText, utcTime } from '../schema.ts';
import { Type } from '../type.ts';

/**
 * An operation of the operator's API below `/operator/v1`: all that its route, its description in
 * OpenAPI and its code samples need.
 */
export interface OperatorOperation extends Operation {
  /** The scope that the operator's token must have. */
  readonly scope: OperatorScope;
  /** The schemas of the query parameters. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** Those of them that a request must have. */
  readonly requiredQuery?: readonly string[];
  /** The JSON body. Without required members, the body may be absent. */
  readonly body?: TObject;
  readonly bodyBytesMax?: number;
  readonly response: {
    readonly status: 200 | 201;
    /** Its description is that of the response. */
    readonly schema: TSchema;
    /** The name of an example in `openapi/operator-examples.ts`. */
    readonly example: string;
    /** `application/json` if absent. */
    readonly mediaType?: 'application/x-ndjson';
  };
  /** Statuses of its errors besides those that every operation or one with a path parameter has. */
  readonly errors?: readonly number[];
  /** The body or the query string of the code samples. */
  readonly sample?: { readonly json?: object; readonly query?: Readonly<Record<string, string>> };
}

/** Maximum number of items on a page. */
const limitMax = 100;

const defaultLimit = 20;

const cursor = Type.String({
  maxLength: 1024,
  pattern: '^[A-Za-z0-9_-]{1,1024}$',
  description: 'The value of next in the previous page; absent for the first page',
  'x-rule': 'the value of next in the previous page',
  examples: ['WyJhY21lIl0'],
});

/** The query parameters of every list. */
export const listParameters = {
  limit: Type.Integer({
    minimum: 1,
    maximum: limitMax,
    default: defaultLimit,
    format: 'int32',
    description: 'Maximum number of items on a page',
    'x-rule': `a whole number from 1 to ${limitMax}`,
    examples: [defaultLimit],
  }),
  cursor,
} as const satisfies Record<string, TSchema>;

/** Number of items of a page without `limit`. */
export const listLimitDefault = defaultLimit;

/** The schema of a page of a list. */
export const listOf = <T extends TSchema>(item: T, description: string) =>
  closed(description, {
    data: Type.Array(item, { maxItems: 10_000, description: 'The items' }),
    next: Type.Union([cursor, Type.Null()], {
      description: 'The cursor of the following page; null on the last page',
      examples: [null],
    }),
  });

const options = {
  ...utcTime,
  'x-rule': 'a time in UTC',
  examples: ['2026-05-01T08:00:00Z'],
};

/** A time in UTC, `yyyy-MM-ddTHH:mm:ssZ`. */
export const time = (description: string) => Type.String({ ...options, description });

/** The same, or `null`. */
export const nullableTime = (description: string) =>
  Type.Union([Type.String(options), Type.Null()], {
    description,
    'x-rule': 'a time in UTC, or null',
    examples: options.examples,
  });

/** One of a few words; the first one is the example unless another one is given. */
export const word = <const T extends string>(
  words: readonly T[],
  description: string,
  example: T | undefined = words[0],
) =>
  Type.Enum(words, {
    type: 'string',
    maxLength: Math.max(...words.map(({ length }) => length)),
    description,
    'x-rule': `one of ${words.join(', ')}`,
    examples: [example],
  });

/** A list of different words. */
export const wordsOf = <const T extends string>(
  words: readonly T[],
  noun: string,
  description: string,
  example: readonly T[],
) =>
  Type.Array(Type.Enum(words, { type: 'string' }), {
    minItems: 1,
    maxItems: words.length,
    uniqueItems: true,
    description,
    'x-rule': `a list of different ${noun}, each of ${words.join(', ')}`,
    examples: [example],
  });

/** A string that people write, or `null`. */
export const nullableText = (maxLength: number, description: string, example: string | null) =>
  Type.Union([Type.String({ maxLength, pattern: plainText, examples: [example ?? 'text'] }), Type.Null()], {
    description,
    examples: [example],
  });

/** A value of another schema, or `null`. */
export const orNull = <T extends TSchema>(schema: T, description: string) => {
  const { 'x-rule': rule, examples } = schema as { 'x-rule'?: string; examples?: unknown[] };
  return Type.Union([schema, Type.Null()], { description, 'x-rule': `${rule}, or null`, examples });
};

/** The name of a tenant that may exist. */
export const tenantText = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: plainText,
    description,
    'x-rule': 'the name of a tenant',
    examples: ['acme'],
  });
