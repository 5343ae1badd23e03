import { useRef } from 'preact/hooks';
import { type OperatorResponse, operatorApi } from '../../../contract/operator/operations.ts';
import { call, type Input } from '../call.ts';
import { type Resource, useResource } from './use-resource.ts';

/** An operation that returns a list. */
export type ListId =
  | ('listTenants' | 'listClients' | 'listImports' | 'listOperators' | 'listAuditEntries')
  | ('listClientSessions' | 'listKeys' | 'listSettings');
export type Item<Id extends ListId> =
  OperatorResponse<Id> extends { readonly data: (infer I extends object)[] } ? I : never;

/** The first items of a list. */
interface Items<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

export interface List<T> extends Omit<Resource<Items<T>>, 'value'>, Partial<Items<T>> {
  /** Reads further items, which are added at the end. */
  readonly showMore: () => void;
}

/** Items per step, and per request: the most that the service sends. */
const step = 50;
const limitMax = 100;

interface ListOptions {
  readonly params?: Readonly<Record<string, string>>;
  /** Milliseconds between two reads while the page is visible; absent to read once. */
  readonly everyMs?: number;
  /** Items that are read at first. */
  readonly first?: number;
}

/** Reads the beginning of a list, as far as the user asked for. */
export function useList<Id extends ListId>(
  id: Id,
  query: Record<string, string | undefined> = {},
  { params = {}, everyMs, first = step }: ListOptions = {},
): List<Item<Id>> {
  const key = JSON.stringify([params, query]);
  const wanted = useRef({ key, count: first });
  if (wanted.current.key !== key) wanted.current = { key, count: first };
  const { value, ...rest } = useResource<Items<Item<Id>>>(
    key,
    (signal, isBackground) => readItems(id, { params, query, signal, isBackground }, wanted.current.count),
    { everyMs },
  );
  const showMore = (): void => {
    wanted.current.count += step;
    rest.reload();
  };
  return { ...rest, ...value, showMore };
}

/** A list without the items that the user does not want to see. */
export function filterList<T>({ items, ...list }: List<T>, isShown: (item: T) => boolean): List<T> {
  return items === undefined ? list : { ...list, items: items.filter(isShown) };
}

/** Reads the first `count` items of a list, in pages; a list without parameters has one. */
async function readItems<Id extends ListId>(id: Id, input: Input<Id>, count: number): Promise<Items<Item<Id>>> {
  const items: Item<Id>[] = [];
  for (let cursor: string | undefined; ; ) {
    const paging = 'query' in operatorApi[id] ? { limit: Math.min(limitMax, count - items.length), cursor } : {};
    const page = (await call(id, { ...input, query: { ...input.query, ...paging } })) as {
      readonly data: Item<Id>[];
      readonly next: string | null;
    };
    items.push(...page.data);
    if (page.next === null || items.length >= count) return { items, hasMore: page.next !== null };
    cursor = page.next;
  }
}
