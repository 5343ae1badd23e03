/**
 * Deepest nesting and most values of a response that is parsed, as values without content take 30
 * times the memory of their text: 10,000 records of a page with 50 values each.
 */
export const responseBounds = { depthMax: 16, valuesMax: 500_000 };

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
 * Follows the body of a response that is parsed, before it is. Each call throws `BoundError` if
 * what arrived so far exceeds a bound, whatever the media type says.
 */
export function followBody(origin: string): (part: Uint8Array) => void {
  const isWithin = followJson(responseBounds);
  const decoder = new TextDecoder();
  let bytes = 0;
  return (part) => {
    bytes += part.length;
    if (bytes > responseBytesMax) throw new BoundError(origin, `at most ${responseBytesMax} bytes`);
    if (isWithin(decoder.decode(part, { stream: true }))) return;
    const { depthMax, valuesMax } = responseBounds;
    throw new BoundError(
      origin,
      `JSON with at most ${valuesMax.toLocaleString('en')} values, at most ${depthMax} levels deep`,
    );
  };
}

/** Reads the body of a response as text. Throws `BoundError`; lines have no bound but the bytes. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  origin: string,
  kind: 'json' | 'lines' = 'json',
): Promise<string> {
  const follow = kind === 'json' ? followBody(origin) : limitBytes(origin);
  const parts: Uint8Array[] = [];
  for await (const part of body) {
    follow(part);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function limitBytes(origin: string): (part: Uint8Array) => void {
  let bytes = 0;
  return ({ length }) => {
    bytes += length;
    if (bytes > responseBytesMax) throw new BoundError(origin, `at most ${responseBytesMax} bytes`);
  };
}

/**
 * Follows a JSON text in parts, whether it is valid or not: whether it stays within bounds, up to
 * the end of each part.
 */
export function followJson({ depthMax, valuesMax }: typeof responseBounds): (part: string) => boolean {
  let [depth, values] = [0, 1];
  /** Whether a part ended in a string, and with the backslash of an escape. */
  let [isInString, isEscaping] = [false, false];
  // parts are never joined: a search in joined strings copies them each time
  return (part) => {
    for (let at = 0; at < part.length; at += 1) {
      if (isInString) {
        const from = at + (isEscaping ? 1 : 0);
        at = endOfString(part, from);
        isInString = at === part.length;
        isEscaping = isInString && isEscaped(part, at, from);
        continue;
      }
      const character = part[at];
      if (character === '"') isInString = true;
      else if (character === ',') values += 1;
      else if (character === '{' || character === '[') {
        values += 1;
        depth += 1;
      } else if (character === '}' || character === ']') depth -= 1;
      if (depth > depthMax || values > valuesMax) return false;
    }
    return true;
  };
}

/**
 * Position of the closing quote of a string whose content begins or goes on at `from`, or the
 * length of the text. Searching for it takes a third of the time of looking at each character.
 */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at > 0 && isEscaped(text, at, from)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

/** Whether an odd number of backslashes of a string's content precedes a character. */
function isEscaped(text: string, at: number, from: number): boolean {
  let before = at - 1;
  while (before >= from && text[before] === '\\') before -= 1;
  return (at - before) % 2 === 0;
}
