import { type Account, describePage, type Page, type SeenRecord } from './account.ts';
import { type Finding, failed, passed } from './check.ts';

/**
 * The dates of a record that `before` and `after` may compare; docs/contributors/spec.md does not
 * say which.
 */
const dateFields = ['createdDate', 'activationDate', 'expirationDate'] as const;
type DateField = (typeof dateFields)[number];

/** The observed meaning of `before` or `after`. */
export interface Bound {
  readonly finding: Finding;
  /** The date that it compares, and the instant of the request. */
  readonly field: DateField;
  readonly instant: string;
}

/** A date of a record, if it has the form of the specification. */
export function dateOf(record: SeenRecord, field: DateField): string | undefined {
  const value = record[field];
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? value : undefined;
}

/** The greatest number of records on the selected side of a bound, so that they fit in a page. */
const selectedMax = 40;

/** The dates of the known records, oldest first. */
const datesOf = async (account: Account, field: DateField): Promise<string[]> =>
  (await account.known()).flatMap((record) => dateOf(record, field) ?? []).toSorted();

/** A date with known records before and after it. */
async function pivotOf(account: Account, name: 'before' | 'after', field: DateField): Promise<string | undefined> {
  const dates = await datesOf(account, field);
  const from = Math.min(Math.floor(dates.length / 2), selectedMax);
  const pivot = name === 'before' ? dates[from] : dates[dates.length - 1 - from];
  // neither the first nor the last date, which many records may share
  const inner = dates.filter((date) => date !== dates[0] && date !== dates.at(-1));
  return inner.includes(pivot ?? '') ? pivot : inner[0];
}

/** Two dates, what `after` the first and `before` the second selects, and whether that is all. */
interface Range {
  readonly from: string;
  readonly to: string;
  readonly page: Page;
  readonly isWhole: boolean;
}

/** Selects a few records between two known dates; `undefined` without enough dates. */
export async function rangeOf(account: Account, field: DateField): Promise<Range | undefined> {
  const dates = await datesOf(account, field);
  const start = Math.floor(dates.length / 4);
  const [from, to] = [dates[start], dates[Math.min(start + selectedMax / 2, dates.length - 2)]];
  if (from === undefined || to === undefined || from >= to) return undefined;
  return { from, to, ...(await account.select(`after=${from}&before=${to}`)) };
}

/** Whether a range has the records of exactly a date; `undefined` if none is known to have it. */
export async function includes(account: Account, { page, isWhole }: Range, field: DateField, date: string) {
  const isAt = (record: SeenRecord): boolean => dateOf(record, field) === date;
  if (page.records.some(isAt)) return true;
  return isWhole && (await account.known()).some(isAt) ? false : undefined;
}

/** Finds the date that a bound compares; `undefined` if the records have too few dates. */
export async function boundOf(account: Account, name: 'before' | 'after'): Promise<Bound | undefined> {
  const wrong: Bound[] = [];
  for (const field of dateFields) {
    const instant = await pivotOf(account, name, field);
    if (instant === undefined) continue;
    const { page, isWhole } = await account.select(`${name}=${instant}`);
    const sides = { before: -1, at: 0, after: 1 } as const;
    const sideOf = (record: SeenRecord): number => compare(dateOf(record, field) ?? instant, instant);
    const expected = (await account.known()).filter((record) => sideOf(record) === sides[name]);
    const isComplete = !isWhole || expected.every(({ id }) => page.ids.includes(JSON.stringify(id)));
    const isNarrow = page.records.every((record) => sideOf(record) === sides.at || sideOf(record) === sides[name]);
    if (page.isPage && isComplete && isNarrow)
      return { finding: passed(`${describePage(page)} by ${field}`), field, instant };
    wrong.push({ finding: failed(`${describePage(page)}, which no date explains`), field, instant });
  }
  return wrong.length === dateFields.length ? wrong[0] : undefined;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
