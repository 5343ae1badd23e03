import type { TSchema } from 'typebox';
import { errorTable } from '../../packages/contract/error.ts';
import type { ErrorCode } from '../../packages/contract/error-code.ts';
import { descriptionOf } from '../../packages/contract/schema.ts';
import { StatusFilter } from '../../packages/contract/subscription.ts';
import { summaryGroups } from '../../packages/contract/summary.ts';
import { Type } from '../../packages/contract/type.ts';

/** A code that only requests of the consoles' pages get, which are not part of the contract. */
const consoleCode: ErrorCode = 'SESSION_ENDED';

export type Json = Readonly<Record<string, unknown>>;

/** A reference to a named schema of the document. */
export const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** References to named examples of the document. */
export const examplesOf = (...names: readonly string[]): Json => ({
  examples: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }])),
});

/** Optional headers of every request (`spec.md` "Request headers"). */
export const requestHeaders = ['X-Correlation-ID', 'Cache-Control'].map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));

/**
 * Statuses of requests that reach no operation, because they are unreadable, too slow, too large or
 * too many, and of internal errors.
 */
const commonStatuses = [400, 408, 414, 429, 431, 500];

/** Headers of the error responses with a status. */
export const statusHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Describes query parameters, which are optional but for some names. */
export function queryParameterObjects(
  schemas: Readonly<Record<string, TSchema>>,
  required: readonly string[] = [],
): Json[] {
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: descriptionOf(schema),
    ...valueObject(name, schema),
  }));
}

/** Parameters that are lists: the schema of one value and the largest number of values. */
const lists: Readonly<
  Record<string, { readonly items: TSchema; readonly maxItems: number; readonly uniqueItems?: true }>
> = {
  status: { items: StatusFilter, maxItems: 16 },
  by: {
    items: Type.String({ enum: [...summaryGroups], maxLength: 10 }),
    maxItems: summaryGroups.length,
    uniqueItems: true,
  },
};

/**
 * The schema of a parameter. A list is a string in the URL, so the parser and its messages have a
 * schema for that; clients that are generated from the document take an array.
 */
function valueObject(name: string, schema: TSchema): Json {
  const list = lists[name];
  if (list === undefined) return { schema };
  const { examples = [], default: fallback } = schema as { examples?: readonly string[]; default?: string };
  const values = {
    type: 'array',
    minItems: 1,
    ...list,
    ...(fallback !== undefined && { default: fallback.split(',') }),
    examples: examples.map((example) => example.split(',')),
  };
  return { style: 'form', explode: false, schema: values };
}

/**
 * Makes the functions that describe the responses of one listener; each of its responses has
 * `commonHeaders`.
 */
export function createResponses(commonHeaders: readonly string[]) {
  const headerRefs = (names: readonly string[] = []): Json =>
    Object.fromEntries([...commonHeaders, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

  /** A response with a body, JSON unless `mediaType` says otherwise. */
  const response = (
    description: string,
    schema: Json,
    headers?: readonly string[],
    example?: string,
    mediaType = 'application/json',
  ): Json => ({
    description,
    headers: headerRefs(headers),
    content: { [mediaType]: { schema, ...(example !== undefined && examplesOf(example)) } },
  });

  /** The problem responses of an operation; all codes of a status share one description. */
  const problems = (...statuses: readonly number[]): Json =>
    Object.fromEntries(
      [...commonStatuses, ...statuses].map((status) => {
        const kinds = Object.entries(errorTable).filter(
          ([code, kind]) => kind.status === status && code !== consoleCode,
        );
        return [
          status,
          {
            description: kinds.map(([code, { title }]) => `${code}: ${title}`).join('. '),
            headers: headerRefs(statusHeaders[status]),
            content: {
              'application/problem+json': {
                schema: schemaRef('Problem'),
                ...examplesOf(...kinds.map(([code]) => code)),
              },
            },
          },
        ];
      }),
    );

  /** A document that needs no authentication. */
  const publicDocument = (
    description: string,
    schema: Json,
    { example, otherStatuses = [] }: { example?: string; otherStatuses?: readonly number[] } = {},
  ): Json => ({
    security: [],
    responses: { 200: response(description, schema, [], example), ...problems(...otherStatuses) },
  });

  return { headerRefs, response, problems, publicDocument };
}
