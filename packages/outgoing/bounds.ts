import { followJson, type JsonBounds } from '../contract/json-object.ts';

/**
 * Deepest nesting and most values of a response that is parsed, as values without content take 30
 * times the memory of their text: 10,000 records of a page with 50 values each.
 */
export const responseBounds: JsonBounds = { depthMax: 16, valuesMax: 500_000 };

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
