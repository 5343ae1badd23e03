import { type PageContext, readPage } from '../../packages/service/storage/read/page.ts';
import type { PagePosition, SubscriptionOrder } from '../../packages/service/storage/read/page-sql.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { SubscriptionFilter } from '../../packages/service/storage/subscription-filter.ts';

/** Reads a page, with the JSON of each of its records in `texts`. */
export async function readTexts(
  context: PageContext,
  tenant: TenantId,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  size: number,
) {
  const page = await readPage(context, tenant, { filter, order, position, size, layout: 'lines' });
  const { bytes, count } = page.records;
  return { ...page, texts: count === 0 ? [] : bytes.toString().trimEnd().split('\n') };
}
