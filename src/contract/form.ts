/** One `name=value` of a query string or form body, decoded, in the order it arrived. */
export interface FormPair {
  readonly name: string;
  readonly value: string;
}

/**
 * What a text of `application/x-www-form-urlencoded` holds: its pairs, and the parts that could not
 * be decoded.
 */
export interface FormContent {
  readonly pairs: readonly FormPair[];
  /** Undecodable parts as they arrived: a bad `%` escape, or bytes that are not UTF-8. */
  readonly malformed: readonly string[];
}

/**
 * Reads `application/x-www-form-urlencoded` (WHATWG URL §5.1) strictly: where browsers replace what
 * they cannot decode, this says so. `+` is a blank.
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

/**
 * Decodes one form-encoded text (`+` and `%XX`, UTF-8), or gives `undefined` when it cannot be
 * decoded.
 */
export function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined; // URIError: the text is not percent-encoded UTF-8, which the caller reports
  }
}

/** The names that stand more than once among the pairs. */
export function repeatedNames(pairs: readonly Pick<FormPair, 'name'>[]): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of pairs) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}
