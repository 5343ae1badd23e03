import type { Subscription } from '../../../client/index.ts';

/**
 * The values of a record by their names in CSV. Members that only a later version of the service
 * sends are among them: the console shows every field, in words of its own or by its name.
 */
export function recordValues(record: Subscription): ReadonlyMap<string, string> {
  return new Map(valuesIn(record, ''));
}

const valuesIn = (object: object, prefix: string): (readonly [string, string])[] =>
  Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? valuesIn(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, String(value ?? '')] as const],
  );
