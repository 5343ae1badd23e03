/** Booleans as databases and people write them, in any letter case. */
const booleans: ReadonlyMap<string, 'true' | 'false'> = new Map([
  ...['true', 't', '1', 'y', 'yes'].map((word) => [word, 'true'] as const),
  ...['false', 'f', '0', 'n', 'no'].map((word) => [word, 'false'] as const),
]);

/** Reads a boolean of a file or of its JSON; `undefined` for anything else. */
export function readBoolean(value: unknown): 'true' | 'false' | undefined {
  if (value === 'true' || value === 'false') return value;
  return typeof value === 'object' ? undefined : booleans.get(String(value).toLowerCase());
}

/**
 * Reads a whole number of at most nine digits. Programs that have no missing integers write it with
 * one or two zeros as its fraction; three may be thousands.
 *
 * @example readInteger('30.0') // 30
 */
export const readInteger = (text: string): number | undefined =>
  /^\d{1,9}(?:\.00?)?$/.test(text) ? Number(text) : undefined;
