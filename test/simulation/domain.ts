import { createHash } from 'node:crypto';
import { knownStatuses } from '../../packages/contract/subscription.ts';
import type { ModelRecord, Version } from './model.ts';
import { Random } from './random.ts';

// The values of records, from which queries are drawn too, so that most queries match some records.

export const base = Date.UTC(2025, 0, 1);
export const second = 1_000;
export const day = 86_400 * second;
/** The difference of the creation dates of five records and of the five that follow them. */
export const step = 1_000 * second;

/** Number of ids that random sources share, so that they often have stored records. */
export const usedIds = 2_500;
/**
 * New ids follow one another from one of so many places, so that many sources have no stored id.
 */
const places = 60;
const idsBetween = 600;

const words = [
  'Europe 5 GB',
  'Überall',
  '日本 5 GB',
  '😀 á',
  'e\u0301',
  '\u2028',
  '"quoted", text',
  "'=1",
  '=1+1',
  '＠',
];
export const productNames: readonly string[] = words.flatMap((word) => [`${word} 1`, `2 ${word}.`, `3 ${word}`]);
const products = ['product-0', 'product-1', 'prödukt-2', '製品 3', '=sum(4)', 'a,"b"\u00a05', '😀6', 'product-7'];
export const productIds: readonly string[] = [...products, 'product-8', 'product-9', 'Product-9', 'e\u030110'];
export const planIds: readonly string[] = ['plan-0', 'plän-1', '計画2', '+plan,3'];
export const statuses: readonly string[] = [...knownStatuses, 'ACTIVE', 'ACTIVE', 'EXPIRED', 'PAUSED'];
const people = ['user', 'Üser', 'us\u0065\u0301r', 'ユーザー', 'USER'];

export const simOf = (number: number): number => Math.floor(number / 3);
export const idOf = (number: number): string =>
  `${Buffer.from(`id-${number}`).toString('base64url')}${number % 40 === 0 ? '=' : ''}`;
export const iccidOf = (sim: number): string => `89445${String(sim).padStart(14, '0')}`;
export const deviceOf = (sim: number): string => `${sim % 2 === 0 ? 'device' : 'gerät;'}-${sim % 60}`;
export const emailOf = (sim: number): string => `${people[sim % people.length]}${sim % 90}@example.com`;

/**
 * Generates versions of records from a seed; the unit of the product's period makes each one
 * unique. Their ids are random ones of few, or consecutive.
 */
export function makeVersions(seed: number, count: number, ids: 'used' | 'new' = 'used'): Version[] {
  const random = new Random(seed);
  const first = usedIds + (seed % places) * idsBetween;
  return Array.from({ length: count }, (_, index) =>
    makeVersion(random, `v${seed}-${index}`, ids === 'new' ? first + index : random.between(0, usedIds - 1)),
  );
}

function makeVersion(random: Random, unit: string, number: number): Version {
  const created =
    base + Math.floor(number / 5) * step + (random.chance(0.1) ? random.between(0, 90 * 86_400) : 0) * second;
  const activated = created + random.pick([-4 * second, 0, 0, 3 * second, day]);
  const expires = activated + (random.chance(0.7) ? random.between(1, 60) : random.between(60, 3_600)) * day;
  const product = random.between(0, productIds.length - 1);
  const sim = simOf(number);
  return toVersion(
    {
      id: idOf(number),
      ...(random.chance(0.95) && { status: random.pick(statuses) }),
      activationDate: dateText(activated),
      expirationDate: dateText(expires),
      createdDate: dateText(created),
      product: {
        id: productIds[product] ?? '',
        name: random.pick(productNames),
        period: 30,
        period_unit: unit,
        plan_id: planIds[product % planIds.length] ?? '',
      },
      iccid: iccidOf(sim),
      device_id: deviceOf(sim),
      auto_renew: random.chance(0.4) ? 'true' : 'false',
    },
    emailOf(sim),
  );
}

function toVersion(record: ModelRecord, email: string): Version {
  const text = JSON.stringify(record);
  const { createdDate, activationDate, expirationDate } = record;
  const times = {
    createdDate: Date.parse(createdDate),
    activationDate: Date.parse(activationDate),
    expirationDate: Date.parse(expirationDate),
  };
  return { record, email, times, text, digest: createHash('sha256').update(text).digest().readBigUInt64LE() };
}

const dateText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
