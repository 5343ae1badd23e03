import type { Static } from 'typebox';
import { closed, openValue, plain } from './schema.ts';
import { Type } from './type.ts';

/**
 * Identifier of a product: an opaque string of 1 to 128 characters (`spec.md` "Product object").
 */
export const ProductId = Type.String({
  pattern: '^[^\\u0000-\\u001f\\u007f]{1,128}$',
  minLength: 1,
  maxLength: 128,
  description: 'Opaque product identifier',
  'x-rule': '1 to 128 characters without control characters',
  examples: ['cHJvZHVjdC0zMA'],
});

/**
 * The product of a subscription (`spec.md` "Product object"). Only `id` is required; `period` may
 * be 0.
 */
export const Product = closed('The product of a subscription. Members that its source does not have are absent', {
  id: ProductId,
  name: Type.Optional(plain(256, 'Human-readable product name', 'Europe 5 GB, 30 days')),
  period: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      format: 'int32',
      description: 'Length of the product period, in period_unit',
      'x-rule': 'an integer from 0 to 1000000',
      examples: [30],
    }),
  ),
  period_unit: Type.Optional(
    Type.String({
      ...openValue,
      description: 'Unit of period: an open set. Known value: DAYS. Clients must accept others',
      examples: ['DAYS'],
    }),
  ),
  plan_id: Type.Optional(plain(128, 'Identifier of the plan', 'cGxhbi1ldXJvcGU')),
});
export type Product = Static<typeof Product>;
