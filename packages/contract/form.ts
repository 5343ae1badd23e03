/** A decoded `name=value` pair of a query string or form body. */
export interface FormPair {
  readonly name: string;
  readonly value: string;
}

/** Parsed `application/x-www-form-urlencoded` content. */
interface FormContent {
  readonly pairs: readonly FormPair[];
  /** Parts that cannot be decoded, verbatim: an invalid `%` escape, or bytes that are not UTF-8. */
  readonly malformed: readonly string[];
}

/**
 * Parses `application/x-www-form-urlencoded` (WHATWG URL §5.1), but reports what cannot be decoded
 * instead of replacing it. `+` is a space.
 *
 * @example
 * parseForm('size=5&page=%ZZ')
 * // { pairs: [{ name: 'size', value: '5' }], malformed: ['page=%ZZ'] }
 */
export function parseForm(text: string): FormContent {
  const pairs: FormPair[] = [];
  const malformed: string[] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decodeFormText(equals < 0 ? part : part.slice(0, equals));
    const value = decodeFormText(equals < 0 ? '' : part.slice(equals + 1));
    if (name === undefined || value === undefined) malformed.push(part);
    else pairs.push({ name, value });
  }
  return { pairs, malformed };
}

/** Decodes a form-encoded string (`+` and `%XX`, UTF-8); `undefined` if that is not possible. */
export function decodeFormText(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined; // URIError: not percent-encoded UTF-8; the caller reports it
  }
}

/** Returns the names that appear more than once. */
export function repeatedNames(pairs: readonly Pick<FormPair, 'name'>[]): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of pairs) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}
