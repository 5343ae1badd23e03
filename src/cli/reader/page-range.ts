import type { SubscriptionPage } from '../../client/index.ts';

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
  const before = (currentPage - firstPage) * Number(headers.get('x-count-per-page'));
  const total = totalCount.toLocaleString('en');
  const range =
    records.length === 0
      ? `No subscriptions on this page, ${total} in total`
      : `${(before + 1).toLocaleString('en')}-${(before + records.length).toLocaleString('en')} of ${total}`;
  return next === undefined ? range : `${range}. Next page: ${next}`;
}
