/**
 * Deepest nesting and most values of a response that is parsed, as values without content take 30
 * times the memory of their text: 10,000 records of a page with 50 values each.
 */
export const responseBounds = { depthMax: 16, valuesMax: 500_000 };

const jsonRule = `JSON with at most ${responseBounds.valuesMax.toLocaleString('en')} values, at most ${responseBounds.depthMax} levels deep`;

/** Most bytes of a response: 10,000 records, the most of a page, of 2 KiB each. */
export const responseBytesMax = 20 * 2 ** 20;

/** A response exceeds a bound; `rule` is the bound. */
export class BoundError extends Error {
  override readonly name = 'BoundError';
  readonly rule: string;

  constructor(origin: string, rule: string) {
    super(`Cannot read the response of ${origin}: it must be ${rule}`);
    this.rule = rule;
  }
}

/**
 * Follows the body of a response, before it is parsed. Each call throws `BoundError` if what has
 * arrived exceeds a bound, whatever the media type says; lines have no bound but the bytes.
 */
export function followBody(origin: string, kind: 'json' | 'lines' = 'json'): (part: Uint8Array) => void {
  const isWithin = followJson(responseBounds);
  const decoder = new TextDecoder();
  let bytes = 0;
  return (part) => {
    bytes += part.length;
    if (bytes > responseBytesMax) throw new BoundError(origin, `at most ${responseBytesMax} bytes`);
    if (kind === 'json' && !isWithin(decoder.decode(part, { stream: true }))) throw new BoundError(origin, jsonRule);
  };
}

/** Reads the body of a response as text. Throws `BoundError`, as `followBody` does. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  origin: string,
  kind: 'json' | 'lines' = 'json',
): Promise<string> {
  const follow = followBody(origin, kind);
  const parts: Uint8Array[] = [];
  for await (const part of body) {
    follow(part);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Follows a JSON text in parts, whether it is valid or not: whether it stays within bounds, up to
 * the end of each part.
 */
export function followJson({ depthMax, valuesMax }: typeof responseBounds): (part: string) => boolean {
  let [depth, values] = [0, 1];
  /** Whether a part ended in a string, and with the backslash of an escape. */
  let [isInString, isEscaped] = [false, false];
  const quoteOrEscape = /["\\]/g;
  return (part) => {
    for (let at = 0; at < part.length; at += 1) {
      if (isEscaped) isEscaped = false;
      else if (isInString) {
        quoteOrEscape.lastIndex = at;
        const closing = quoteOrEscape.exec(part)?.index ?? part.length;
        isEscaped = part[closing] === '\\';
        isInString = isEscaped || closing === part.length;
        at = closing;
      } else {
        const character = part[at];
        isInString = character === '"';
        if (character === '{' || character === '[') depth += 1;
        else if (character === '}' || character === ']') depth -= 1;
        if (character === '{' || character === '[' || character === ',') values += 1;
      }
      if (depth > depthMax || values > valuesMax) return false;
    }
    return true;
  };
}
