import { expect, test } from 'vitest';
import type { Subscription } from '../../client/index.ts';
import { describePage } from './list-command.ts';

const pageOf = (currentPage: number, firstPage: number, count = 20) => ({
  records: Array.from({ length: count }, () => ({}) as Subscription),
  totalCount: 2_000,
  currentPage,
  headers: new Headers({
    'x-count-per-page': '20',
    'x-total-count': '2000',
    link: `<https://h/v1?size=20&page=${firstPage}>; rel="first"`,
  }),
});

test('the range of a page counts from the first page of the service, which may be 0', () => {
  expect(describePage(pageOf(100, 1), undefined)).toBe('1,981-2,000 of 2,000');
  expect(describePage(pageOf(0, 0), 'subreport list --page 1')).toBe(
    '1-20 of 2,000. Next page: subreport list --page 1',
  );
});

test('a page past the last one has no range', () => {
  expect(describePage(pageOf(101, 1, 0), undefined)).toBe('No subscriptions on this page, 2,000 in total');
});

test.each([
  [0, '0 subscriptions'],
  [1, '1 subscription'],
])('a page of another server without a total names none, with %i records', (count, counted) => {
  const page = { ...pageOf(1, 1, count), totalCount: Number.NaN, headers: new Headers() };
  expect(describePage(page, undefined)).toBe(`${counted} on this page; the server sends no total`);
});

test('a page whose number or size a proxy has removed has no range', () => {
  const unplaced = '20 subscriptions on this page, 2,000 in total';
  expect(describePage({ ...pageOf(7, 1), headers: new Headers() }, undefined)).toBe(unplaced);
  expect(describePage({ ...pageOf(7, 1), currentPage: Number.NaN }, undefined)).toBe(unplaced);
});
