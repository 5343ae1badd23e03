import { parseInstant } from './instant.ts';
import { readBoolean, readInteger } from './read-value.ts';
import type { RecordField } from './record-fields.ts';
import { knownStatuses } from './subscription.ts';

/** The known values of fields that are open sets, and those of booleans. */
export const knownValues: Readonly<Record<string, readonly string[]>> = {
  status: knownStatuses,
  'product.period_unit': ['DAYS'],
  auto_renew: ['true', 'false'],
};

/** Whether a text of a file needs no meaning: it has the type of the field, or is a known value. */
export function isKnown({ name, type }: Pick<RecordField, 'name' | 'type'>, text: string): boolean {
  if (type === 'boolean') return readBoolean(text) !== undefined;
  if (type === 'instant') return parseInstant(text) !== undefined;
  return type === 'integer' ? readInteger(text) !== undefined : (knownValues[name]?.includes(text) ?? true);
}
