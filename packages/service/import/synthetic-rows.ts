import { formatInstant } from '../../contract/instant.ts';
import type { Product } from '../../contract/product.ts';
import type { Subscription } from '../../contract/subscription.ts';

/** Which synthetic rows to generate. The same options always give the same rows. */
interface SyntheticOptions {
  readonly count: number;
  readonly seed: number;
  /**
   * The reference time of the data, in UTC epoch seconds: whether a subscription is expired, active
   * or about to expire depends on it.
   */
  readonly until: number;
  /**
   * The time whose state the rows have, by default `until`. Rows that were created later are left
   * out, and what happened in between has not happened yet, or has.
   */
  readonly at?: number;
}

/** A row as an import reads it: a record and the subscriber's email. */
export type SyntheticRow = Subscription & { readonly email: string };

const day = 86_400;
/** How long before `until` the first subscription was created. */
const historySeconds = 3 * 365 * day;

const regions = ['Europe', 'Global', 'North America', 'Asia Pacific', 'Middle East', 'Germany', 'Japan', 'Fleet'];
/** The plans of each region. */
const plans = [
  { period: 365, gigabytes: 12 },
  { period: 30, gigabytes: 5 },
  { period: 90, gigabytes: 20 },
  { period: 15, gigabytes: 3 },
  { period: 7, gigabytes: 1 },
];
/** Seconds from one month with few new subscriptions to the next, and how far it dips. */
const season = { seconds: 167 * day, depth: 0.3 };

/**
 * Generates realistic subscriptions over three years up to `until`: products of 7 days to a year,
 * several subscriptions on one SIM, renewing ones that expire within the next weeks, used-up and
 * expired ones, a few created just now, months with fewer new ones, and the flaws of real data: one
 * in thirty has no status, and an activation may be some seconds before the creation.
 */
export function* syntheticRows({ count, seed, until, at = until }: SyntheticOptions): Generator<SyntheticRow> {
  const random = mulberry32(seed);
  const products = makeProducts();
  const simCount = Math.max(1, Math.ceil(count / 3));
  for (let index = 0; index < count; index += 1) {
    const created = Math.floor(until - ageOf((index + random()) / count));
    const sim = Math.floor(random() * simCount);
    const product = pick(products, random);
    const renews = random() < 0.4;
    // the last one: bought in advance
    const activated = created + pick([-4, 0, 0, 2, 3, 5, 3_600, 2 * day, 20 * day], random);
    const expires = expirationOf(activated, product, renews, at);
    const isGreedy = random() < 0.15;
    const hasStatus = random() >= 1 / 30;
    if (created > at) continue;
    const untilUsedUp = secondsUsed(product, expirationOf(activated, product, renews, until), until);
    const usedUp = isGreedy && at - expires + product.period * day >= untilUsedUp;
    const status = statusOf(activated, expires, usedUp, at);
    yield {
      id: `${base64url(`s${seed}-${index}`)}${index % 50 === 0 ? '=' : ''}`,
      ...(hasStatus && { status }),
      activationDate: formatInstant(activated),
      expirationDate: formatInstant(expires),
      createdDate: formatInstant(created),
      product,
      iccid: iccidOf(seed, sim),
      device_id: `device-${String(sim).padStart(6, '0')}`,
      auto_renew: String(renews) as 'true' | 'false',
      email: `user${sim % Math.max(1, Math.ceil(simCount / 4))}@example.com`,
    };
  }
}

/**
 * The age, in seconds, of the subscription at a share of all, from the oldest to the newest. The
 * number of new subscriptions grows over time, in waves.
 */
function ageOf(share: number): number {
  const age = historySeconds * (1 - Math.sqrt(share));
  const wave = season.seconds / (2 * Math.PI);
  return age + season.depth * wave * Math.sin(age / wave);
}

/** The products of the operator: one for each region and plan. */
function makeProducts(): readonly Required<Product>[] {
  return regions.flatMap((region, regionIndex) =>
    plans.map(({ period, gigabytes }, index) => ({
      id: base64url(`product-${regionIndex}-${index}`),
      name: `${region} ${gigabytes} GB, ${period} days`,
      period,
      period_unit: 'DAYS',
      plan_id: base64url(`plan-${regionIndex}`),
    })),
  );
}

/**
 * The end of the first period, or of the current one if the subscription renews automatically (some
 * renewals were switched off at some point).
 */
function expirationOf(activated: number, product: Required<Product>, renews: boolean, at: number): number {
  const period = product.period * day;
  const elapsed = Math.max(0, at - activated);
  return activated + period * (renews ? Math.floor(elapsed / period) + 1 : 1);
}

/** For how long the data of each period lasts, in seconds; of the last one, until `until`. */
function secondsUsed(product: Required<Product>, expires: number, until: number): number {
  const begin = expires - product.period * day;
  return ((Math.min(expires, until) - begin) * (begin % 97)) / 97;
}

function statusOf(activated: number, expires: number, usedUp: boolean, at: number): string {
  if (activated > at) return 'PENDING';
  if (expires <= at) return 'EXPIRED';
  return usedUp ? 'DEPLETED' : 'ACTIVE';
}

/** A 19-digit ICCID of a fictitious issuer, with its check digit (ITU-T E.118: Luhn). */
function iccidOf(seed: number, sim: number): string {
  const digits = `894450${String(seed % 1_000).padStart(3, '0')}${String(sim).padStart(9, '0')}`;
  return digits + luhnDigit(digits);
}

function luhnDigit(digits: string): string {
  let sum = 0;
  for (const [index, digit] of [...digits].reverse().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return String((10 - (sum % 10)) % 10);
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('Cannot pick an item: the list must not be empty');
  return item;
}

/**
 * Pseudorandom numbers from 0 (inclusive) to 1 (exclusive) for a seed (mulberry32, by Tommy
 * Ettinger, public domain).
 */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
