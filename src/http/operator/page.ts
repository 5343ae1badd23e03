import { listLimitDefault, listParameters } from '../../contract/operator-list.ts';
import { describeFaults } from '../../contract/parameter-faults.ts';
import { ProblemError } from '../../contract/problem-error.ts';
import { ruleOf } from '../../contract/schema.ts';

/** The page of a list that a request asks for. */
interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of a list as it is sent. */
interface Page<T> {
  readonly data: readonly T[];
  readonly next: string | null;
}

/**
 * Reads one page of a list. `read` returns up to `limit` items after the one with the key `after`,
 * which has `keyParts` strings; all are empty for the first page. `keyOf` returns the key of an
 * item.
 */
export async function readPage<Item, Shown>(
  { limit = listLimitDefault, cursor }: PageQuery,
  { keyParts, read, keyOf, show }: ListSource<Item, Shown>,
): Promise<Page<Shown>> {
  const after = cursor === undefined ? Array<string>(keyParts).fill('') : parseCursor(cursor, keyParts);
  const items = await read(after, limit + 1);
  const last = items.length > limit ? items[limit - 1] : undefined;
  return {
    data: items.slice(0, limit).map(show),
    next: last === undefined ? null : formatCursor(keyOf(last)),
  };
}

interface ListSource<Item, Shown> {
  readonly keyParts: number;
  readonly read: (after: readonly string[], limit: number) => Promise<readonly Item[]>;
  readonly keyOf: (item: Item) => readonly string[];
  readonly show: (item: Item) => Shown;
}

/** The cursor of the page after the item with this key. */
export const formatCursor = (key: readonly string[]): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** No key has a NUL, which PostgreSQL rejects. */
const anyPart = /^[^\0]*$/;

/** Reads the key in a cursor; throws `ProblemError` if it is not a cursor of ours. */
export function parseCursor(cursor: string, keyParts: number, part = anyPart): readonly string[] {
  const key = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  const isPart = (each: unknown): boolean => typeof each === 'string' && part.test(each);
  if (Array.isArray(key) && key.length === keyParts && key.every(isPart)) return key;
  const fault = { parameter: 'cursor', value: cursor.slice(0, 64), rule: ruleOf(listParameters.cursor) };
  throw new ProblemError(describeFaults([fault], false));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // SyntaxError: not a cursor of ours; the caller reports it
  }
}
