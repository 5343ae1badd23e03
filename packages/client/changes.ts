import { reportPaths } from '../contract/report.ts';
import type { Api } from './api.ts';
import { numberIn } from './list.ts';
import type { CallOptions } from './options.ts';
import type { Instant, Moment, OrderedQuery } from './query.ts';
import type { ChangeKind, ChangeOf, ChangesPage } from './records.ts';

/** Options of reading changes. */
export interface ChangesOptions<Before extends boolean = false> extends CallOptions {
  /** Whether each change has its kind, time and import, and the record as it was. */
  readonly before?: Before | undefined;
  /** Only changes of these kinds. */
  readonly kind?: ChangeKind | readonly ChangeKind[] | undefined;
  /** `newest`: the newest change first. By default the order in which a copy applies them. */
  readonly order?: 'oldest' | 'newest' | undefined;
  /** Only changed records whose value of this field differs; `renewal`: whose end is later. */
  readonly field?: 'status' | 'product-id' | 'auto-renew' | 'renewal' | undefined;
  /** The former value of `field`, and the new one; `none` is no status. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Only changes that this import made; `none`: that no import made. */
  readonly 'import-id'?: string | undefined;
  /** The only fields of each record and of the former one; a tombstone always has its id. */
  readonly fields?: OrderedQuery['fields'];
  /** The time zone of a date without an offset. */
  readonly zone?: string | undefined;
  /**
   * Maximum number of changes per page; by default 1,000, or the service's limit if it is lower.
   */
  readonly size?: number | undefined;
}

/** Options of counting changes. */
export interface ChangesSummaryOptions extends CallOptions {
  /** The end of the period; now if it is absent. */
  readonly until?: Moment | undefined;
  /** The time zone of the days, and of dates without an offset; UTC by default. */
  readonly zone?: string | undefined;
}

/** Yields pages of changes until the copy is up to date; there is always at least one page. */
export async function* listChanges<Before extends boolean = false>(
  api: Api,
  since: Instant | undefined,
  options: ChangesOptions<Before>,
): AsyncGenerator<ChangesPage<ChangeOf<Before>>, void, undefined> {
  let page: ChangesPage<ChangeOf<Before>> | undefined;
  do {
    page = await readChanges(api, page?.next ?? since, options);
    yield page;
  } while (page.hasMore);
}

/** Returns the page of changes after a change token or an instant. */
export async function readChanges<Before extends boolean = false>(
  api: Api,
  since: Instant | undefined,
  { size, signal, correlationId, ...query }: ChangesOptions<Before>,
): Promise<ChangesPage<ChangeOf<Before>>> {
  const read = (wanted: number | undefined) =>
    api.json<Pick<ChangesPage<ChangeOf<Before>>, 'changes' | 'next'> & { readonly has_more: boolean }>(
      reportPaths.listSubscriptionChanges,
      { query: { ...query, since, size: wanted } },
      { signal, correlationId },
    );
  const { body, headers } = await (size === undefined ? api.widest(read) : read(size));
  const { has_more: hasMore, ...page } = body;
  if (!page.next || (hasMore && page.next === since))
    throw new TypeError('Cannot continue the changes: next must be new');
  return { ...page, hasMore, revision: numberIn(headers, 'x-revision') };
}
