import type { TSchema } from 'typebox';
import type { PageLimits } from './page-limits.ts';
import { reportParameters } from './query.ts';
import { descriptionOf } from './schema.ts';
import { Status } from './subscription.ts';
import { Type } from './type.ts';

/**
 * The body of a search: the query parameters of the report as members of a JSON object. `size` and
 * `page` are numbers, `status` may be an array, `auto-renew` and `all` may be booleans; the others
 * are strings as in the query string.
 */
export function searchBody(limits: PageLimits) {
  const parameters = reportParameters(limits);
  const members: Record<string, TSchema> = {
    ...parameters,
    status: Type.Union([parameters.status, Type.Array(Status, { minItems: 1, maxItems: 16 })], {
      description: descriptionOf(parameters.status),
    }),
    'auto-renew': booleanOr(parameters['auto-renew']),
    all: booleanOr(parameters.all),
  };
  return Type.Object(
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)])),
    { additionalProperties: false, description: 'The filters, sort order and position of a report' },
  );
}

const booleanOr = (word: TSchema) => Type.Union([Type.Boolean(), word], { description: descriptionOf(word) });
