import { shorten } from './problem.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** A JSON object, and the names of its members, with those that are repeated once more. */
interface JsonObject {
  readonly members: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
}

/** How deep a request body may be. */
export const bodyDepthMax = 4;

/** Parses a request body as one JSON object in UTF-8; `undefined` if it is anything else. */
export function parseJsonObject(body: Uint8Array): JsonObject | undefined {
  try {
    const { value, repeated } = read(decoder.decode(body), bodyDepthMax);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return { members: value as Record<string, unknown>, names: [...Object.keys(value), ...repeated] };
  } catch {
    // a TypeError of the decoder or a SyntaxError, whose message would contain part of the body
    return undefined;
  }
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

/** A JSON text is too deep; `rule` is the bound in words. */
export class DepthError extends Error {
  override readonly name = 'DepthError';
  readonly rule: string;

  constructor(depthMax: number) {
    const rule = `at most ${depthMax} levels deep`;
    super(`Cannot read the JSON: it must be ${rule}`);
    this.rule = rule;
  }
}

/**
 * Parses a JSON text, whose length the caller has limited. Throws `DepthError`, `RepeatedError` if
 * an object in it has a member twice, of which `JSON.parse` silently keeps the last, and
 * `SyntaxError` if it is no JSON.
 */
export function parseJson(text: string, depthMax: number): unknown {
  const { value, repeated } = read(text, depthMax);
  if (repeated[0] !== undefined) throw new RepeatedError(repeated[0]);
  return value;
}

function read(text: string, depthMax: number): { readonly value: unknown; readonly repeated: readonly string[] } {
  const value = parse(text);
  // a string within a value may look like names: then the text is read token by token
  const names = text.match(/"\s*:/g)?.length ?? 0;
  return { value, repeated: names === countMembers(value, depthMax) ? [] : findRepeated(text) };
}

/**
 * Parses JSON. A name that is written with needless escapes, such as `\u0069d` for `id`, is parsed
 * without them: in its place, `JSON.parse` of V8 14.6 may return a name that an earlier object had
 * there, always one with a backslash (https://github.com/nodejs/node/issues/63785). A name that
 * needs an escape may still be taken for such a name; both are unknown to every schema.
 */
function parse(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!text.includes('\\')) return value;
  const plain = text.replace(tokens, (token, name: string | undefined, colon: string | undefined) =>
    colon !== undefined && name?.includes('\\') ? JSON.stringify(JSON.parse(name)) + colon : token,
  );
  return JSON.parse(plain);
}

/** The number of members of all objects in a value, level by level. */
function countMembers(value: unknown, depthMax: number): number {
  let count = 0;
  let level = [value].filter(isOpen);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > depthMax) throw new DepthError(depthMax);
    const next: object[] = [];
    for (const open of level) {
      const values = Object.values(open);
      if (!Array.isArray(open)) count += values.length;
      for (const each of values) if (isOpen(each)) next.push(each);
    }
    level = next;
  }
  return count;
}

const isOpen = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** An array or object that is open at a position of a JSON text. */
interface OpenValue {
  readonly path: readonly string[];
  /** The members so far; `undefined` for an array. */
  readonly names: Set<string> | undefined;
}

/** The path of each member that an object of a valid JSON text has once more. */
function findRepeated(json: string): readonly string[] {
  const repeated: string[] = [];
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
      if (within.names.has(name)) repeated.push(path.join('.'));
      within.names.add(name);
    }
  }
  return repeated;
}

/** A string with the colon that makes it a name, or a bracket. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[[{]|[\]}]/g;
