import { formatInstant } from '../../packages/contract/instant.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { historySeconds, until } from '../support/data-set.ts';
import { getRequest } from '../support/our-service.ts';

/** A page of a tenant's report: 50 records of twelve months, newest first. */
export interface PageRequest {
  readonly tenant: TenantId;
  readonly path: string;
}

const year = 365 * 86_400;

/** Random pages of tenants, up to the number `pagesOf` of the tenant, or pages 1. */
export function randomPages(
  tenants: readonly TenantId[],
  count: number,
  pagesOf?: ReadonlyMap<TenantId, number>,
): readonly PageRequest[] {
  return Array.from({ length: count }, () => {
    const tenant = tenants[Math.floor(Math.random() * tenants.length)];
    if (tenant === undefined) throw new RangeError('Cannot choose a tenant: there must be one');
    const after = Math.floor(until - historySeconds + Math.random() * (historySeconds - year));
    const query = new URLSearchParams({
      size: '50',
      sort: '-createdDate',
      after: formatInstant(after),
      before: formatInstant(after + year),
      ...(pagesOf && { page: String(1 + Math.floor(Math.random() * (pagesOf.get(tenant) ?? 1))) }),
    });
    return { tenant, path: `/connect-api/v1/subscription?${query}` };
  });
}

/** The same pages as requests with the tokens of one side. */
export function asRequests(pages: readonly PageRequest[], tokens: ReadonlyMap<TenantId, string>): readonly Buffer[] {
  return pages.map(({ tenant, path }) => getRequest(path, { authorization: `Bearer ${tokens.get(tenant)}` }));
}

/** One uncompressed page of one side. */
export function fetchPage(
  port: number,
  { tenant, path }: PageRequest,
  tokens: ReadonlyMap<TenantId, string>,
): Promise<Response> {
  // like the loader
  const headers = { authorization: `Bearer ${tokens.get(tenant)}`, 'accept-encoding': 'identity' };
  return fetch(`http://127.0.0.1:${port}${path}`, { headers });
}
