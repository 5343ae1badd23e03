import { type Account, type Page, type SeenRecord, sameIds } from './account.ts';
import { boundOf, dateOf, includes, rangeOf } from './bounds.ts';
import { numberIn, pagesPastEnd } from './paging-checks.ts';

/** What a copy of an account must know about its server. `null` is unknown. */
export interface Capabilities {
  /** The number of the first page. */
  readonly first_page: 0 | 1 | null;
  /** Records on a page without `size`, if the account has more. */
  readonly default_size: number | null;
  /** The largest `size` of 1000, 500, 200, 100, 50, 20 and 10 that is honoured. */
  readonly largest_size: number | null;
  /** The response to a larger `size`. */
  readonly larger_size: 'rejected' | 'shortened' | null;
  /** Whether X-Total-Count is sent. */
  readonly total_sent: boolean;
  /** Whether X-Next-Page is sent. */
  readonly next_page_sent: boolean;
  /** The date that pages are ordered by, with `-` for the newest first. */
  readonly order: string | null;
  readonly after_last_page: 'empty' | 'rejected' | 'last page again' | 'first page again' | null;
  /** The date that before and after compare, and whether each includes exactly this date. */
  readonly bounds: {
    readonly date: string | null;
    readonly before_is_inclusive: boolean | null;
    readonly after_is_inclusive: boolean | null;
  };
}

/** Finds what a copy must know, with as few further requests as possible. */
export async function findCapabilities(account: Account): Promise<Capabilities> {
  const { pages, isComplete } = await account.walk();
  const known = await account.known();
  return {
    first_page: account.hasPages ? ((await account.firstNumber()) ?? null) : null,
    default_size: account.firstPage.records.length < known.length ? account.firstPage.records.length : null,
    ...(await largestSize(account)),
    total_sent: numberIn(account.firstPage, 'x-total-count') !== undefined,
    next_page_sent: [account.firstPage, ...pages].some(({ exchange }) => exchange.headers.has('x-next-page')),
    order: orderOf(pages.flatMap(({ records }) => records)),
    after_last_page: pages.length > 0 ? describeEnd(await pagesPastEnd(account), pages, isComplete) : null,
    bounds: await boundsOf(account),
  };
}

async function boundsOf(account: Account): Promise<Capabilities['bounds']> {
  const both = [await boundOf(account, 'before'), await boundOf(account, 'after')];
  const field = both.every((bound) => bound?.finding.result === 'passed') ? both[0]?.field : undefined;
  const range = field === undefined ? undefined : await rangeOf(account, field);
  if (field === undefined || range === undefined)
    return { date: field ?? null, before_is_inclusive: null, after_is_inclusive: null };
  return {
    date: field,
    before_is_inclusive: (await includes(account, range, field, range.to)) ?? null,
    after_is_inclusive: (await includes(account, range, field, range.from)) ?? null,
  };
}

/** The order that the dates of the records are in; `null` if they are in none or all equal. */
function orderOf(records: readonly SeenRecord[]): string | null {
  for (const field of ['createdDate', 'activationDate', 'expirationDate'] as const) {
    const dates = records.flatMap((record) => dateOf(record, field) ?? []);
    if (new Set(dates).size < 2) continue;
    if (sameIds(dates, dates.toSorted())) return field;
    if (sameIds(dates, dates.toSorted().toReversed())) return `-${field}`;
  }
  return null;
}

function describeEnd([near]: readonly [Page, Page], pages: readonly Page[], isComplete: boolean) {
  if (!near.isPage) return 'rejected';
  if (near.records.length === 0) return 'empty';
  if (isComplete && sameIds(near.ids, pages.at(-1)?.ids ?? [])) return 'last page again';
  return sameIds(near.ids, pages[0]?.ids ?? []) ? 'first page again' : null;
}

/** Requests ever smaller sizes until one is honoured. */
async function largestSize(account: Account): Promise<Pick<Capabilities, 'largest_size' | 'larger_size'>> {
  const { isComplete } = await account.walk();
  const known = (await account.known()).length;
  let larger: Capabilities['larger_size'] = null;
  for (const size of [1000, 500, 200, 100, 50, 20, 10]) {
    const page = await account.readOnce(`size=${size}`);
    const total = numberIn(page, 'x-total-count') ?? (isComplete ? known : size);
    if (page.isPage && page.records.length >= Math.min(size, total)) return { largest_size: size, larger_size: larger };
    larger = page.isPage ? 'shortened' : 'rejected';
  }
  return { largest_size: null, larger_size: larger };
}

/** The lines of the capabilities for people. */
export const describeCapabilities = (found: Capabilities): readonly (readonly [string, string])[] => {
  const { bounds, ...others } = found;
  const values = {
    ...others,
    ...Object.fromEntries(Object.entries(bounds).map(([name, value]) => [`bounds_${name}`, value])),
  };
  return Object.entries(values).map(([name, value]) => [name.replaceAll('_', ' '), String(value ?? 'unknown')]);
};
