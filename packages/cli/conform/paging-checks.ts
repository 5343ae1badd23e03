import { type Account, describePage, type Page, sameIds, type Walk } from './account.ts';
import { type Check, count, type Finding, failed, judge, notApplicable, passed } from './check.ts';

const tooFew = notApplicable('the account has fewer than two records');
const onePage = notApplicable('the account has one page');

/** A header of a page as a number; `undefined` if it is absent. */
export const numberIn = (page: Page | undefined, header: string): number | undefined => {
  const text = page?.exchange.headers.get(header) ?? undefined;
  return text === undefined ? undefined : Number(text);
};

/** A page past the last one, and one far past it. */
export async function pagesPastEnd(account: Account): Promise<readonly [Page, Page]> {
  const { size, pages, after } = await account.walk();
  const far = await account.readOnce(`size=${size}&page=${pages.length + 100_000}`);
  return [after ?? far, far];
}

/** The page that a header `X-Next-Page` leads to. */
export async function followNextPage(account: Account, page: Page): Promise<Page | Finding | undefined> {
  const link = page.exchange.headers.get('x-next-page');
  if (link === null) return undefined;
  const { baseUrl } = account.requester.target;
  const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined;
  if (url === undefined) return failed('X-Next-Page is not a URL');
  // the access token must not be sent elsewhere
  if (url.origin !== new URL(baseUrl).origin) return failed(`X-Next-Page leads to ${url.origin}`);
  return account.readUrl(url.href);
}

/** Compares the total with the records. */
function judgeTotal({ pages, isComplete }: Walk): Finding {
  const total = numberIn(pages[0], 'x-total-count');
  if (total === undefined) return notApplicable('no X-Total-Count');
  if (!isComplete) return notApplicable('not all pages were read');
  const records = new Set(pages.flatMap(({ ids }) => ids)).size;
  return judge(total === records, `X-Total-Count ${total}, ${count(records, 'record')}`);
}

/** Whether a page past the last one is empty, rejected, or the last page again. */
function judgePastEnd(page: Page, { pages, isComplete }: Walk): Finding {
  const last = pages.at(-1);
  if (page.exchange.status >= 500) return failed(`status ${page.exchange.status}`);
  if (page.records.length === 0) return passed(describePage(page));
  if (pages.length > 1 && sameIds(page.ids, pages[0]?.ids ?? [])) return failed('the first page again');
  if (!isComplete || sameIds(page.ids, last?.ids ?? [])) return passed('the last page again');
  return failed(`${count(page.records.length, 'record')} of other pages`);
}

/** Counts the records that a walk has on more than one page. */
function repeated({ pages }: Walk): number {
  const ids = pages.flatMap((page) => [...new Set(page.ids)]);
  return ids.length - new Set(ids).size;
}

/**
 * Pages: `size`, `page` and "Response" of docs/contributors/spec.md, and the headers that clients
 * follow.
 */
export const pagingChecks: readonly Check[] = [
  {
    id: 'stable-page',
    sentence: 'A page that is requested twice has the same records in the same order.',
    run: async (account) => {
      if (!account.hasPages) return tooFew;
      let before = account.firstPage;
      // the records may change once in between
      for (const _attempt of [1, 2]) {
        const again = await account.read('');
        if (sameIds(again.ids, before.ids)) return passed(count(again.ids.length, 'record'));
        before = again;
      }
      return failed('different records or another order, twice');
    },
  },
  {
    id: 'paging-size',
    sentence: 'A page has at most as many records as size says.',
    run: async (account) => {
      if (!account.hasPages) return tooFew;
      const pages = [await account.readOnce('size=1'), await account.readOnce('size=2')];
      const fits = pages.every(({ isPage, records }, at) => isPage && records.length <= at + 1);
      return judge(fits, pages.map((page) => `${page.query}: ${describePage(page)}`).join(', '));
    },
  },
  {
    id: 'paging-first-page',
    sentence: 'Without page, the response is the first page: that of page=1 or of page=0.',
    needs: ['stable-page', 'paging-size'],
    run: async (account) => {
      if (!account.hasPages) return tooFew;
      const first = await account.firstNumber();
      return first === undefined ? failed('neither page=1 nor page=0') : passed(`page=${first}`);
    },
  },
  {
    id: 'paging-page',
    sentence: 'page selects the page: the second page has other records than the first.',
    needs: ['paging-first-page'],
    run: async (account) => {
      if (!account.hasPages) return tooFew;
      const first = await account.readOnce('size=1');
      const second = await account.readOnce(`size=1&page=${((await account.firstNumber()) ?? 1) + 1}`);
      const isOther = second.ids.length > 0 && second.ids.every((id) => !first.ids.includes(id));
      return judge(isOther, isOther ? 'another record' : `${describePage(second)}, none of them another`);
    },
  },
  {
    id: 'paging-no-repeat',
    sentence: 'No record is on two pages.',
    needs: ['paging-page'],
    run: async (account) => {
      const walk = await account.walk();
      if (walk.pages.length < 2) return onePage;
      if (repeated(walk) > 0) return failed(`${count(repeated(walk), 'record')} on two pages`);
      return passed(count(walk.pages.length, 'page'));
    },
  },
  {
    id: 'paging-full-pages',
    sentence: 'Every page but the last has as many records as size says.',
    needs: ['paging-page'],
    run: async (account) => {
      const { size, pages } = await account.walk();
      if (pages.length < 2) return onePage;
      const short = pages.slice(0, -1).filter(({ records }) => records.length < size);
      return judge(short.length === 0, `${short.length} of ${count(pages.length, 'page')} of size ${size} are short`);
    },
  },
  {
    id: 'paging-sizes-agree',
    sentence: 'Pages of different sizes have the same records in the same order.',
    needs: ['paging-no-repeat', 'paging-full-pages'],
    run: async (account) => {
      const { size: large, pages } = await account.walk();
      if (pages.length < 2) return onePage;
      const size = Math.max(large === 1 ? 2 : 1, Math.floor(large / 3));
      const first = (await account.firstNumber()) ?? 1;
      const ids: string[] = [];
      for (const number of [first, first + 1, first + 2])
        ids.push(...(await account.readOnce(`size=${size}&page=${number}`)).ids);
      const expected = pages.flatMap((page) => page.ids).slice(0, ids.length);
      return judge(ids.length > 0 && sameIds(ids, expected), `${count(ids.length, 'record')} of size ${size}`);
    },
  },
  {
    id: 'paging-past-end',
    sentence:
      'A page past the last one is empty, rejected or the last page again; it is no other page and no status 5xx.',
    needs: ['paging-page'],
    run: async (account) => {
      const walk = await account.walk();
      const [near, far] = (await pagesPastEnd(account)).map((page) => judgePastEnd(page, walk));
      return near?.result === 'failed' || far === undefined ? (near ?? tooFew) : far;
    },
  },
  {
    id: 'paging-next-page',
    sentence: 'X-Next-Page, if it is sent, leads to the following page.',
    needs: ['paging-page'],
    run: async (account) => {
      const [first, second] = (await account.walk()).pages;
      if (first === undefined || second === undefined) return onePage;
      const next = await followNextPage(account, first);
      if (next === undefined) return notApplicable('no X-Next-Page');
      if ('result' in next) return next;
      return judge(sameIds(next.ids, second.ids), describePage(next));
    },
  },
  {
    id: 'paging-next-page-ends',
    sentence: 'The last page has no X-Next-Page, if others have.',
    needs: ['paging-page'],
    run: async (account) => {
      const { pages, isComplete } = await account.walk();
      if (pages.length < 2) return onePage;
      const [first, last] = [pages[0], pages.at(-1)].map((page) => page?.exchange.headers.has('x-next-page'));
      if (first !== true || !isComplete)
        return notApplicable(isComplete ? 'no X-Next-Page' : 'not all pages were read');
      return judge(last === false, `${last === false ? 'no ' : ''}X-Next-Page on page ${pages.length}`);
    },
  },
  {
    id: 'total-count',
    sentence: 'X-Total-Count, if it is sent, is the number of records on all pages.',
    needs: ['paging-sizes-agree'],
    run: async (account) => judgeTotal(await account.walk()),
  },
  {
    id: 'total-pages',
    sentence: 'X-Total-Pages, if it is sent, is X-Total-Count divided by the page size, rounded up.',
    needs: ['paging-size'],
    run: async (account) => {
      const { size, pages } = await account.walk();
      const [total, sent] = ['x-total-count', 'x-total-pages'].map((header) => numberIn(pages[0], header));
      if (total === undefined || sent === undefined || size === 0) return notApplicable('no X-Total-Pages');
      return judge(sent === Math.ceil(total / size), `X-Total-Pages ${sent} for ${total} records of size ${size}`);
    },
  },
  {
    id: 'total-current-page',
    sentence: 'X-Current-Page, if it is sent, is the number of the page.',
    needs: ['paging-first-page'],
    run: async (account) => {
      const [, second] = (await account.walk()).pages;
      const [sent, first] = [numberIn(second, 'x-current-page'), (await account.firstNumber()) ?? 1];
      if (sent === undefined) return notApplicable(second === undefined ? onePage.seen : 'no X-Current-Page');
      return judge(sent === first + 1, `X-Current-Page ${sent} for page=${first + 1}`);
    },
  },
  {
    id: 'total-count-per-page',
    sentence: 'X-Count-Per-Page, if it is sent, is the number of records on a full page.',
    needs: ['paging-full-pages'],
    run: async (account) => {
      const { size, pages } = await account.walk();
      const sent = numberIn(pages[0], 'x-count-per-page');
      if (pages.length < 2) return onePage;
      if (sent === undefined) return notApplicable('no X-Count-Per-Page');
      return judge(sent === size, `X-Count-Per-Page ${sent} for size=${size}`);
    },
  },
];
