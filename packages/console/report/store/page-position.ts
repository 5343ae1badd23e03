import type { SubscriptionPage } from '../../../client/index.ts';

interface PagePosition {
  /** Counted from 1. */
  readonly number: number;
  readonly count: number;
  readonly size: number;
  /** The service's number of the first page, which is a setting: 1 or 0. */
  readonly first: number;
}

/** The position of a page in its report. */
export function pagePosition({ currentPage, totalPages, headers }: SubscriptionPage): PagePosition {
  const link = headers.get('link') ?? '';
  const first = Number(/[?&]page=(\d+)[^>]*>; rel="first"/.exec(link)?.[1] ?? 1);
  return {
    number: currentPage - first + 1,
    count: totalPages,
    size: Number(headers.get('x-count-per-page')),
    first,
  };
}
