import { type Account, describePage, memberOf, type Page, type SeenRecord, sameIds } from './account.ts';
import { type Bound, boundOf, dateOf, rangeOf } from './bounds.ts';
import { type Check, count, type Finding, failed, judge, notApplicable, passed } from './check.ts';
import { followNextPage, numberIn } from './paging-checks.ts';

const iccidOf = (record: SeenRecord): unknown => record.iccid;
const productOf = (record: SeenRecord): unknown => memberOf(record.product, 'id');
const sameProduct = (one: SeenRecord, other: SeenRecord): boolean => productOf(one) === productOf(other);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A value that some record has; for the product, the one with the most records. */
async function sampleOf(account: Account, readValue: (record: SeenRecord) => unknown): Promise<string | undefined> {
  const groups = Map.groupBy((await account.known()).map(readValue).filter(isText), (value) => value);
  return [...groups.values()].toSorted((one, other) => other.length - one.length)[0]?.[0];
}

const noSample = notApplicable('the account has no records');

/** A filter by a value returns all records of this value that are known, and no others. */
async function judgeFilter(
  account: Account,
  name: string,
  readValue: (record: SeenRecord) => unknown,
): Promise<Finding> {
  const value = await sampleOf(account, readValue);
  if (value === undefined) return noSample;
  const { page, isWhole } = await account.select(`${name}=${encodeURIComponent(value)}`);
  const others = page.records.filter((record) => readValue(record) !== value).length;
  if (others > 0) return failed(`${describePage(page)}, ${others} of them with another value`);
  const expected = (await account.known()).filter((record) => readValue(record) === value);
  const missing = expected.filter(({ id }) => !page.ids.includes(JSON.stringify(id))).length;
  if (page.records.length === 0 || (isWhole && missing > 0))
    return failed(`${describePage(page)}; ${count(missing, 'record')} with the value missing`);
  return passed(describePage(page));
}

/** A value that no record has, although one has a similar value, selects no record. */
async function judgeSimilar(account: Account, name: string, readValue: ReadValue, similar: Similar): Promise<Finding> {
  const value = await sampleOf(account, readValue);
  if (value === undefined) return noSample;
  const known = (await account.known()).map(readValue);
  for (const [how, other] of Object.entries(similar(value))) {
    if (other === value || other === '' || known.includes(other)) continue;
    const page = await account.readOnce(`${name}=${encodeURIComponent(other)}&size=1`);
    // with another value, or without the filter
    if (page.records.some((record) => readValue(record) !== other))
      return failed(`${describePage(page)} for ${how} of a value`);
  }
  return passed('none for similar values');
}

type ReadValue = (record: SeenRecord) => unknown;
type Similar = (value: string) => Readonly<Record<string, string>>;

const swapCase = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

/** The first of two findings that failed, otherwise the first. */
async function both(first: Finding, second: () => Promise<Finding>): Promise<Finding> {
  if (first.result !== 'passed') return first;
  const other = await second();
  return other.result === 'failed' ? other : first;
}

/** A request with an ICCID that no SIM has: its check digit belongs to no issuer. */
const unknownIccid = (account: Account): Promise<Page> => account.readOnce('iccid=0000000000000000000');

/** Whether another spelling of a query selects the same records. */
async function judgeSame(account: Account, query: string, other: string): Promise<Finding> {
  const [{ page }, { page: again }] = [await account.select(query), await account.select(other)];
  return judge(again.isPage && sameIds(again.ids, page.ids), `${describePage(again)} instead of ${describePage(page)}`);
}

const tooFewDates = notApplicable('the account has fewer than three dates');

async function judgeBound(account: Account, name: 'before' | 'after'): Promise<Finding> {
  const bound = await boundOf(account, name);
  return bound?.finding ?? tooFewDates;
}

/** Runs a check with the instant of `before` and the date that it compares. */
const withBefore =
  (run: (account: Account, instant: string, field: Bound['field']) => Promise<Finding>) =>
  async (account: Account): Promise<Finding> => {
    const bound = await boundOf(account, 'before');
    return bound === undefined ? tooFewDates : run(account, bound.instant, bound.field);
  };

/** The filters: "Query parameters" of docs/contributors/spec.md. */
export const filterChecks: readonly Check[] = [
  {
    id: 'parameter-iccid',
    sentence: 'iccid returns only the subscriptions of this ICCID, and all of them.',
    run: async (account) => {
      const unknown = await unknownIccid(account);
      if (unknown.records.length > 0) return failed(`${describePage(unknown)} for an ICCID that no SIM has`);
      const finding = await judgeFilter(account, 'iccid', iccidOf);
      // short of any check digit that a server may leave out
      return both(finding, () =>
        judgeSimilar(account, 'iccid', iccidOf, (value) => ({ 'the beginning': value.slice(0, 10) })),
      );
    },
  },
  {
    id: 'parameter-product-id',
    sentence: 'product-id returns only the subscriptions with this product id, and all of them.',
    run: async (account) =>
      both(await judgeFilter(account, 'product-id', productOf), () =>
        judgeSimilar(account, 'product-id', productOf, (value) => ({
          'the beginning': value.slice(0, -1),
          'the end': value.slice(1),
          'another case': swapCase(value),
        })),
      ),
  },
  {
    id: 'parameter-encoding',
    sentence: 'The value of a parameter may be percent-encoded.',
    needs: ['parameter-product-id', 'stable-page'],
    run: async (account) => {
      const value = await sampleOf(account, productOf);
      if (value === undefined) return noSample;
      const encoded = [...new TextEncoder().encode(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
      return judgeSame(account, `product-id=${encodeURIComponent(value)}`, `product-id=${encoded.join('')}`);
    },
  },
  {
    id: 'parameter-and',
    sentence: 'Filters are combined: a record must meet all of them.',
    needs: ['parameter-iccid', 'parameter-product-id'],
    run: async (account) => {
      const product = await sampleOf(account, productOf);
      const other = (await account.known()).find((record) => productOf(record) !== product && isText(iccidOf(record)));
      if (product === undefined || other === undefined) return notApplicable('the account has one product');
      const iccid = String(iccidOf(other));
      const { page } = await account.select(`iccid=${iccid}&product-id=${encodeURIComponent(product)}`);
      const wrong = page.records.filter((record) => iccidOf(record) !== iccid || productOf(record) !== product);
      return judge(wrong.length === 0, `${describePage(page)}, ${wrong.length} of them outside one of two filters`);
    },
  },
  {
    id: 'parameter-before',
    sentence: 'before returns only the subscriptions with a date before this instant, and all of them.',
    run: (account) => judgeBound(account, 'before'),
  },
  {
    id: 'parameter-after',
    sentence: 'after returns only the subscriptions with a date after this instant, and all of them.',
    run: (account) => judgeBound(account, 'after'),
  },
  {
    id: 'parameter-between',
    sentence: 'before and after together return the subscriptions between them.',
    needs: ['parameter-before', 'parameter-after'],
    run: withBefore(async (account, _instant, field) => {
      const range = await rangeOf(account, field);
      if (range === undefined) return tooFewDates;
      const { page, isWhole, from, to } = range;
      const wrong = page.records.filter((record) => {
        const date = dateOf(record, field) ?? from;
        return date < from || date > to;
      });
      if (wrong.length > 0 || !page.isPage) return failed(`${describePage(page)}, ${wrong.length} of them outside`);
      const inside = (await account.known()).filter((record) => {
        const date = dateOf(record, field) ?? from;
        return date > from && date < to;
      });
      const missing = isWhole ? inside.filter(({ id }) => !page.ids.includes(JSON.stringify(id))).length : 0;
      return judge(missing === 0, `${describePage(page)}, ${missing} missing`);
    }),
  },
  {
    id: 'date-fraction',
    sentence: 'before and after take fractions of a second, the form ss.sssZ.',
    needs: ['parameter-before', 'stable-page'],
    run: withBefore((account, instant) =>
      judgeSame(account, `before=${instant}`, `before=${instant.replace('Z', '.000Z')}`),
    ),
  },
  {
    id: 'date-fraction-counts',
    sentence: 'A fraction of a second is part of the instant.',
    needs: ['date-fraction'],
    run: withBefore(async (account, instant, field) => {
      const { page, isWhole } = await account.select(`before=${instant.replace('Z', '.500Z')}`);
      const at = (await account.known()).filter((record) => dateOf(record, field) === instant);
      if (at.length === 0 || !isWhole) return notApplicable('no record to tell by');
      const missing = at.filter(({ id }) => !page.ids.includes(JSON.stringify(id))).length;
      return judge(missing === 0, `${count(missing, 'record')} missing half a second later`);
    }),
  },
  {
    id: 'date-encoded',
    sentence: 'The colons of a date may be percent-encoded.',
    needs: ['parameter-before', 'stable-page'],
    run: withBefore((account, instant) =>
      judgeSame(account, `before=${instant}`, `before=${encodeURIComponent(instant)}`),
    ),
  },
  {
    id: 'response-empty',
    sentence: 'If no subscription matches, the response is an empty array with status 200.',
    needs: ['parameter-iccid'],
    run: async (account) => {
      const page = await unknownIccid(account);
      return judge(page.isPage, page.isPage ? 'an empty array' : describePage(page));
    },
  },
  {
    id: 'total-filtered',
    sentence: 'X-Total-Count, if it is sent, counts only the records of the filters.',
    needs: ['parameter-iccid', 'total-count'],
    run: async (account) => {
      const iccid = await sampleOf(account, iccidOf);
      if (iccid === undefined) return noSample;
      const { page, isWhole } = await account.select(`iccid=${iccid}`);
      const total = numberIn(page, 'x-total-count');
      if (total === undefined || !isWhole) return notApplicable('no X-Total-Count');
      return judge(total === page.records.length, `X-Total-Count ${total} for ${describePage(page)}`);
    },
  },
  {
    id: 'parameter-next-page',
    sentence: 'X-Next-Page, if it is sent, keeps the filters.',
    needs: ['parameter-product-id', 'paging-next-page'],
    run: async (account) => {
      // without the filter, the following page would have another product
      const [, second = {}] = await account.known();
      const product = await sampleOf(account, (record) =>
        sameProduct(record, second) ? undefined : productOf(record),
      );
      if (product === undefined) return noSample;
      const page = await account.readOnce(`product-id=${encodeURIComponent(product)}&size=1`);
      const next = await followNextPage(account, page);
      if (next === undefined) return notApplicable('no X-Next-Page');
      if ('result' in next) return next;
      const keeps = next.records.length === 1 && next.records.every((record) => productOf(record) === product);
      return judge(keeps && !sameIds(next.ids, page.ids), `${describePage(next)} on the following page`);
    },
  },
];
