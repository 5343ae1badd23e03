import { formatInstant } from '../../packages/contract/instant.ts';
import { sortValues } from '../../packages/contract/query.ts';
import { summaryGroups } from '../../packages/contract/summary.ts';
import { historySeconds, until } from '../support/data-set.ts';

/** A random query of the report or of a summary, and what kind of question it is. */
export interface DrawnQuery {
  readonly kind: 'page' | 'summary';
  /** A query string. Its combination may be one that the service rejects. */
  readonly text: string;
  readonly kindOfQuestion: string;
}

type Random = () => number;

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

const day = 86_400;
const dateFields = ['created', 'activation', 'expiration'] as const;

/** Mostly a range of some days or months, sometimes half of all dates. */
function drawBounds(random: Random): Record<string, string> {
  const lengths = [1, 7, 30, 90, 365].map((days) => days * day);
  const from = until - historySeconds + Math.floor(random() * (historySeconds + 30 * day));
  const bounds = { after: formatInstant(from), before: formatInstant(from + pick(random, lengths)) };
  const which = random();
  if (which < 0.2) return { after: bounds.after };
  return which < 0.4 ? { before: bounds.before } : bounds;
}

/** Filters with values of the synthetic data, and the share of queries that have each. */
const drawFilters: readonly (readonly [share: number, draw: (random: Random) => Record<string, string>])[] = [
  [
    0.4,
    (random) => ({
      status: pick(random, ['PENDING', 'ACTIVE', 'DEPLETED', 'EXPIRED', 'ACTIVE,DEPLETED', 'ACTIVE,EXPIRED', 'none']),
    }),
  ],
  [
    0.2,
    (random) => ({
      'product-id': base64url(`product-${Math.floor(random() * 8)}-${Math.floor(random() * 5)}`),
    }),
  ],
  [0.12, (random) => ({ 'plan-id': base64url(`plan-${Math.floor(random() * 8)}`) })],
  [0.2, (random) => ({ 'auto-renew': pick(random, ['true', 'false']) })],
  [0.6, (random) => ({ 'date-field': pick(random, dateFields), ...drawBounds(random) })],
  [0.08, (random) => ({ 'created-from': formatInstant(until - Math.floor(random() * historySeconds)) })],
  [0.06, (random) => ({ 'expires-within': pick(random, ['1d', '7d', '30d']) })],
  [
    0.06,
    (random) =>
      pick(random, [{ 'device-id': 'device-000417' }, { email: `user${Math.floor(random() * 400)}@example.com` }]),
  ],
];

/** Draws a query from the filters, orders, sizes and dimensions of the contract. */
export function drawQuery(random: Random): DrawnQuery {
  const filters: Record<string, string> = {};
  for (const [share, draw] of drawFilters) if (random() < share) Object.assign(filters, draw(random));
  const isSummary = random() < 0.2;
  const more: Record<string, string> = isSummary ? drawDimensions(random) : drawPage(random);
  const kindOfQuestion = isSummary ? 'summary' : kindOf({ ...filters, ...more });
  return {
    kind: isSummary ? 'summary' : 'page',
    text: String(new URLSearchParams({ ...filters, ...more })),
    kindOfQuestion,
  };
}

function drawDimensions(random: Random): Record<string, string> {
  const groups = summaryGroups.filter(() => random() < 0.3);
  return { by: (groups.length === 0 ? [pick(random, summaryGroups)] : groups).join(',') };
}

function drawPage(random: Random): Record<string, string> {
  return {
    ...(random() < 0.5 && { sort: pick(random, sortValues) }),
    ...(random() < 0.15 && { size: '1000' }),
    ...(random() < 0.5 && { page: String(Math.floor(10 ** (random() * 4.5))) }),
  };
}

function kindOf(query: Record<string, string>): string {
  const { status, sort = 'createdDate' } = query;
  if (query['device-id'] !== undefined || query.email !== undefined) return 'one SIM, device or subscriber';
  if (query['plan-id'] !== undefined) return 'a plan';
  const isBounded = query.after !== undefined || query.before !== undefined;
  const isOther = isBounded && query['date-field'] !== 'created';
  const isFurther = query['expires-within'] !== undefined || (isOther && query['created-from'] !== undefined);
  if (isFurther) return 'several dates';
  if (isOther && query['product-id'] !== undefined) return 'another date and a product';
  if (isOther) return status === undefined ? 'another date alone' : 'another date and a status';
  return sort.endsWith('createdDate') ? 'createdDate, default order' : 'createdDate, another order';
}

/** Pseudorandom numbers from 0 to 1 for a seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
