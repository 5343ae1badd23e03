import { reportPaths } from '../contract/report.ts';
import type { Api } from './api.ts';
import type { CallOptions } from './options.ts';
import type { Instant } from './query.ts';
import type { ChangeKind, ChangeOf, ChangesPage } from './records.ts';

/** Options of reading changes. */
export interface ChangesOptions<Before extends boolean = false> extends CallOptions {
  /** Whether each change has its kind, time and import, and the record as it was. */
  readonly before?: Before | undefined;
  /** Only changes of these kinds. A page may then be empty before the last one. */
  readonly kind?: ChangeKind | readonly ChangeKind[] | undefined;
  /**
   * Maximum number of changes per page; by default 1,000, or the service's limit if it is lower.
   */
  readonly size?: number | undefined;
}

interface ChangesBody<Change> {
  readonly changes: Change[];
  readonly next: string;
  readonly has_more: boolean;
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
  { size, before, kind, ...options }: ChangesOptions<Before>,
): Promise<ChangesPage<ChangeOf<Before>>> {
  const read = (wanted: number | undefined) =>
    api.json<ChangesBody<ChangeOf<Before>>>(
      reportPaths.listSubscriptionChanges,
      { query: { since, before, kind, size: wanted } },
      options,
    );
  const { body, headers } = await (size === undefined ? api.widest(read) : read(size));
  const { has_more: hasMore, ...page } = body;
  return { ...page, hasMore, revision: Number(headers.get('x-revision')) };
}
