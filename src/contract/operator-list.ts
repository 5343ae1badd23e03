import type { TSchema } from 'typebox';
import { Type } from './type.ts';

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
  Type.Object(
    {
      data: Type.Array(item, { maxItems: 10_000, description: 'The items' }),
      next: Type.Union([cursor, Type.Null()], {
        description: 'The cursor of the following page; null on the last page',
        examples: [null],
      }),
    },
    { additionalProperties: false, description },
  );
