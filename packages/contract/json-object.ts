import { shorten } from './problem.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** A JSON object, and the names of its members with those that are repeated. */
interface JsonObject {
  readonly members: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
}

/** How deep a JSON text may be, and how many values it may have. */
export interface JsonBounds {
  readonly depthMax: number;
  readonly valuesMax: number;
}

/** Bounds of a request body: that of an erasure has the most values, 2,000 ids. */
export const bodyBounds: JsonBounds = { depthMax: 4, valuesMax: 4_096 };

/**
 * Parses a request body as one JSON object in UTF-8, within `bodyBounds`; `undefined` if it is
 * anything else.
 */
export function parseJsonObject(body: Uint8Array): JsonObject | undefined {
  try {
    const text = decoder.decode(body);
    if (!isWithin(text, bodyBounds)) return undefined;
    const value = parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return { members: value as Record<string, unknown>, names: memberNames(text) };
  } catch {
    // a TypeError of the decoder or a SyntaxError, whose message would contain part of the body
    return undefined;
  }
}

/**
 * Parses JSON. A name that is written with needless escapes, such as `\u0069d` for `id`, is parsed
 * without them: in its place, `JSON.parse` of V8 14.6 may return a name that an earlier object had
 * there, always one with a backslash (https://github.com/nodejs/node/issues/63785). A name that
 * needs an escape may still be taken for such a name; both are unknown to every schema.
 */
function parse(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!hasEscapedName(text)) return value;
  const plain = text.replace(tokens, (token, name: string | undefined, colon: string | undefined) =>
    colon !== undefined && name?.includes('\\') ? JSON.stringify(JSON.parse(name)) + colon : token,
  );
  return JSON.parse(plain);
}

/** Whether a name of a valid JSON text has an escape; looks only at strings that have one. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    at = endOfString(text, at);
    endOfName.lastIndex = at;
    if (endOfName.test(text)) return true;
  }
  return false;
}

const endOfName = /"\s*:/y;

/** The member names of an object, including repeated ones, which `JSON.parse` drops silently. */
function memberNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [token, text, colon] of json.matchAll(tokens)) {
    if (text !== undefined) {
      if (depth === 1 && colon !== undefined) names.push(JSON.parse(text));
    } else depth += token === '{' || token === '[' ? 1 : -1;
  }
  return names;
}

/** An object in a JSON text has a member twice. */
export class RepeatedError extends Error {
  override readonly name = 'RepeatedError';
  /** The path of the first such member, such as `product.id`. */
  readonly path: string;

  constructor(path: string) {
    super(`Cannot read the JSON: each member must be given once: '${shorten(path)}' is repeated`);
    this.path = path;
  }
}

/** A JSON text exceeds a bound; `rule` is the bounds in words. */
export class BoundsError extends Error {
  override readonly name = 'BoundsError';
  readonly rule: string;

  constructor({ depthMax, valuesMax }: JsonBounds) {
    const rule = `at most ${valuesMax.toLocaleString('en')} values, at most ${depthMax} levels deep`;
    super(`Cannot read the JSON: it must have ${rule}`);
    this.rule = rule;
  }
}

/**
 * Parses a JSON text. Throws `BoundsError`, `RepeatedError` if an object in it has a member twice,
 * of which `JSON.parse` silently keeps the last, and `SyntaxError` if it is no JSON.
 */
export function parseJson(text: string, bounds: JsonBounds): unknown {
  const tally = { members: 0 };
  if (!followJson(bounds, tally)(text)) throw new BoundsError(bounds);
  const value = parse(text);
  // each member has one colon outside strings
  if (tally.members !== countMembers(value)) throw new RepeatedError(findRepeated(text));
  return value;
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const each of value) count += countMembers(each);
    return count;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    count += 1;
    if (typeof members[name] === 'object') count += countMembers(members[name]);
  }
  return count;
}

/** An array or object that is open at a position of a JSON text. */
interface OpenValue {
  readonly path: readonly string[];
  /** The members so far; `undefined` for an array. */
  readonly names: Set<string> | undefined;
}

/** The path of the first member that an object of a valid JSON text has for the second time. */
function findRepeated(json: string): string {
  const open: OpenValue[] = [];
  let path: readonly string[] = [];
  for (const [token, text, colon] of json.matchAll(tokens)) {
    const within = open.at(-1);
    if (text === undefined) {
      if (token === '}' || token === ']') open.pop();
      else
        open.push({ path: within?.names ? path : (within?.path ?? []), names: token === '{' ? new Set() : undefined });
    } else if (colon !== undefined && within?.names) {
      const name: string = JSON.parse(text);
      path = [...within.path, name];
      if (within.names.has(name)) break;
      within.names.add(name);
    }
  }
  return path.join('.');
}

/** A string with the colon that makes it a name, or a bracket. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[[{]|[\]}]/g;

/** Whether a JSON text stays within bounds, whether it is valid or not. It is not parsed. */
const isWithin = (text: string, bounds: JsonBounds): boolean => followJson(bounds)(text);

/**
 * Follows a JSON text in parts: whether it stays within bounds, up to the end of each part. The
 * members of its objects are added to `tally`.
 */
export function followJson({ depthMax, valuesMax }: JsonBounds, tally = { members: 0 }): (part: string) => boolean {
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
      else if (character === ':') tally.members += 1;
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
