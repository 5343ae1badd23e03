import { type Command, Option } from 'commander';
import {
  ApiError,
  type Subscription,
  type SubscriptionList,
  type SubscriptionPage,
  type SubscriptionQuery,
} from '../../client/index.ts';
import { reportParameters } from '../../contract/query.ts';
import { defaultPageLimits } from '../../contract/report.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { CommandError, UsageError } from '../../terminal/error.ts';
import { counted, countText, type Output } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { addParameterOptions, type GivenQuery } from './filter-options.ts';
import { addQueryOption, type LinkUse, newestFirst, readAsked } from './link-query.ts';
import { addListedFiles, type Listed, readListedFiles, sayNotFound } from './listed-files.ts';
import { addOutputOptions, type OutputOptions, openScreen, type Screen, writeRecords } from './record-writer.ts';
import { subscriptionLayout } from './subscription-layout.ts';

// pages show the present; local dates are for exports
const {
  format: _format,
  all: _all,
  'as-of': _asOf,
  dates: _dates,
  ...parameters
} = reportParameters(defaultPageLimits);

/** `list` ignores `by`, because `summary` counts; `export` reads the past. */
const linkUse: LinkUse = { page: 'subscriptions', parameters, ignored: ['by', 'dates'], defaults: newestFirst };

interface ListOptions extends ProfileOption, OutputOptions {
  readonly query?: string;
  readonly all?: boolean;
  readonly idFile?: string;
  readonly iccidFile?: string;
  readonly deviceIdFile?: string;
}

interface Listing {
  readonly options: ListOptions;
  readonly values: GivenQuery['values'];
  readonly listed: Listed;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

export function addListCommand(program: Command, output: Output): void {
  const command = program.command('list').description('list subscriptions, one page or all of them');
  addQueryOption(addListedFiles(addParameterOptions(command, parameters))).addOption(
    new Option('--all', 'list all pages').conflicts(['page', 'cursor']),
  );
  addOutputOptions(addProfileOption(command))
    .addHelpText(
      'after',
      `
Dates are in UTC, or in --zone: 2024-05-01, a date-time, today, yesterday, tomorrow, this-month,
last-month, 7d (before now) or +7d (after now).
A report of the past is an export: subreport export - --as-of yesterday.

Examples:
  subreport list --status ACTIVE --expires-within 7d
  subreport list --after 7d --sort -createdDate
  subreport list --fields iccid,status,product.name
  subreport list --all -o csv > subscriptions.csv
  subreport list --iccid-file sims.txt`,
    )
    .action((options: ListOptions) =>
      runReader(async (signal) => {
        const screen = openScreen(options, output);
        const { values } = readAsked(options, linkUse, screen);
        const listed = await readListedFiles({ ...options });
        for (const remark of listed.remarks) screen.remark(remark);
        await (options.all === true ? listAll : listPage)({ options, values, listed, screen, signal });
      }),
    );
}

async function listPage({ options, values, listed, screen, signal }: Listing): Promise<void> {
  const page = await subscriptionsOf({ options, values, listed, signal }).page();
  const writer = writeRecords(screen, subscriptionLayout(screen.color, values.fields));
  await writer.page(page.records);
  await writer.end();
  screen.remark(describePage(page, nextCommand(options, values, page)));
  sayNotFound(screen, page, listed);
}

async function listAll(listing: Listing): Promise<void> {
  const { values, listed, screen } = listing;
  const list = subscriptionsOf(listing);
  const writer = writeRecords(screen, subscriptionLayout(screen.color, values.fields));
  let count = 0;
  let last: SubscriptionPage | undefined;
  for await (const page of pagesOf(list, (position) => subscriptionsOf({ ...listing, position }).page())) {
    await writer.page(page.records);
    count += page.records.length;
    last = page;
  }
  await writer.end();
  const total = last?.totalCount ?? 0;
  screen.remark(total >= count ? `${countText(count)} of ${countText(total)}` : counted(count, 'subscription'));
  if (last !== undefined) sayNotFound(screen, last, listed);
}

type ReadPage = (position: { readonly size: number; readonly page?: number }) => Promise<SubscriptionPage>;

/**
 * All pages. Another server of the API may send neither totals nor links, number pages from 0 or 1,
 * and repeat the last page or reject a page past the end.
 */
async function* pagesOf(list: SubscriptionList<Subscription>, readPage: ReadPage): AsyncGenerator<SubscriptionPage> {
  let isFirst = true;
  for await (const page of list.pages()) {
    const isLinked = (page.nextCursor ?? page.headers.get('x-next-page')) !== null;
    const isAll = page.records.length === 0 || page.records.length >= page.totalCount;
    if (isFirst && !isLinked && !isAll) return yield* numberedPages(list, readPage);
    isFirst = false;
    yield page;
  }
}

async function* numberedPages(
  list: SubscriptionList<Subscription>,
  readPage: ReadPage,
): AsyncGenerator<SubscriptionPage> {
  let last = await list.page();
  requireIds(last);
  yield last;
  let [isOnly, count] = [true, last.records.length];
  for (let number = 1; ; number += 1) {
    const page = await list.page(number).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    });
    const isRepeated = JSON.stringify(page?.records) === JSON.stringify(last.records);
    if (isRepeated && number === 1) continue;
    if (isRepeated && isOnly) await requirePages(last, readPage);
    if (isRepeated || page === undefined || page.records.length === 0) return requireAll(count, last);
    yield page;
    [last, isOnly, count] = [page, false, count + page.records.length];
  }
}

/** Throws if records have no ids: without them, a page that is sent twice cannot be detected. */
function requireIds({ records }: SubscriptionPage): void {
  if (records.every((record) => record.id !== undefined)) return;
  throw new UsageError(
    'Cannot list all subscriptions: the server sends no links to further pages, so --fields must have id',
  );
}

/** Throws if a server whose pages are all equal may ignore the number of the page. */
async function requirePages({ records }: SubscriptionPage, readPage: ReadPage): Promise<void> {
  const [first] = records;
  const isOne = records.length === 1;
  const smaller = isOne ? await readPage({ size: 2 }) : await readPage({ size: 1, page: 2 });
  const isPaged = smaller.records.length === 1 && (isOne || smaller.records[0]?.id !== first?.id);
  if (isPaged) return;
  const has = `pages 1 and 2 have the same ${counted(records.length, 'subscription')}`;
  throw new CommandError(`Cannot list all subscriptions: the server must use the parameter page: ${has}`);
}

function requireAll(count: number, { totalCount }: SubscriptionPage): void {
  if (!(count < totalCount)) return;
  const rule = 'the server must send all of them';
  throw new CommandError(
    `Cannot list all subscriptions: ${rule}: its pages ended after ${countText(count)} of ${countText(totalCount)}`,
  );
}

/** An email address is sent in the body of a search: it never goes into a URL. */
function subscriptionsOf({
  options,
  values,
  listed,
  signal,
  position,
}: Omit<Listing, 'screen'> & { readonly position?: Parameters<ReadPage>[0] }) {
  const { size, page, ...rest } = values;
  const query = {
    ...rest,
    ...listed.lists,
    ...(size !== undefined && { size: Number(size) }),
    ...(page !== undefined && { page: Number(page) }),
    ...position,
  } as SubscriptionQuery;
  return connect(options).client.subscriptions(query, { signal });
}

/** The same command for the following page, with relative dates as instants. */
function nextCommand(options: ListOptions, values: GivenQuery['values'], page: SubscriptionPage): string | undefined {
  const linked = /[?&]page=(\d+)/.exec(page.headers.get('x-next-page') ?? '')?.[1];
  if (page.nextCursor === undefined && linked === undefined) return undefined;
  const number = linked ?? (Number.isNaN(page.currentPage) ? undefined : String(page.currentPage + 1));
  const { page: _page, cursor, ...kept } = values;
  const position = cursor === undefined && number !== undefined ? { page: number } : { cursor: page.nextCursor };
  const { profile, output, idFile, iccidFile, deviceIdFile } = options;
  const files = { 'id-file': idFile, 'iccid-file': iccidFile, 'device-id-file': deviceIdFile };
  const words = Object.entries({ profile, ...kept, ...files, ...position, output }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellQuote(value)],
  );
  return ['subreport list', ...words, ...(options.json === true ? ['--json'] : [])].join(' ');
}

/** `1-20 of 2,000. Next page: subreport list --page 2` */
export function describePage(
  {
    records,
    totalCount,
    currentPage,
    headers,
  }: Pick<SubscriptionPage, 'records' | 'totalCount' | 'currentPage' | 'headers'>,
  next: string | undefined,
): string {
  const firstPage = Number(/[?&]page=(\d+)[^>]*>; rel="first"/.exec(headers.get('link') ?? '')?.[1] ?? 1);
  const before = (currentPage - firstPage) * Number(headers.get('x-count-per-page') || Number.NaN);
  const total = totalCount.toLocaleString('en');
  const here = `${counted(records.length, 'subscription')} on this page`;
  const range = Number.isNaN(totalCount)
    ? `${here}; the server sends no total` // another server of the API
    : records.length === 0
      ? `No subscriptions on this page, ${total} in total`
      : Number.isNaN(before)
        ? `${here}, ${total} in total`
        : `${(before + 1).toLocaleString('en')}-${(before + records.length).toLocaleString('en')} of ${total}`;
  return next === undefined ? range : `${range}. Next page: ${next}`;
}

const shellQuote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
