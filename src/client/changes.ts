import { reportPaths } from '../contract/report.ts';
import type { Api } from './api.ts';
import type { CallOptions } from './options.ts';
import type { ChangesPage, SubscriptionChange } from './records.ts';

/** Options of reading changes. */
export interface ChangesOptions extends CallOptions {
  /**
   * Maximum number of changes per page; by default 1,000, or the service's limit if it is lower.
   */
  readonly size?: number | undefined;
}

interface ChangesBody {
  readonly changes: SubscriptionChange[];
  readonly next: string;
  readonly has_more: boolean;
}

/** Yields pages of changes until the copy is up to date; there is always at least one page. */
export async function* listChanges(
  api: Api,
  since: string | undefined,
  options: ChangesOptions,
): AsyncGenerator<ChangesPage, void, undefined> {
  let page: ChangesPage | undefined;
  do {
    page = await readChanges(api, page?.next ?? since, options);
    yield page;
  } while (page.hasMore);
}

/** Returns the page of changes after a change token. */
export async function readChanges(
  api: Api,
  since: string | undefined,
  { size, ...options }: ChangesOptions,
): Promise<ChangesPage> {
  const read = (wanted: number | undefined) =>
    api.json<ChangesBody>(reportPaths.listSubscriptionChanges, { query: { since, size: wanted } }, options);
  const { body } = await (size === undefined ? api.widest(read) : read(size));
  return { changes: body.changes, next: body.next, hasMore: body.has_more };
}
