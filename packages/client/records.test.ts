import { expect, expectTypeOf, test } from 'vitest';
import { type RecordField, recordWith } from '../contract/record-fields.ts';
import type * as contract from '../contract/subscription.ts';
import { type Product, parseSubscription, type Subscription } from './records.ts';

type OfContract = contract.Subscription;

test('the types of the library have the members of the contract, and no others', () => {
  expectTypeOf<keyof Subscription>().toEqualTypeOf<keyof OfContract>();
  expectTypeOf<keyof Product>().toEqualTypeOf<keyof OfContract['product']>();
  expectTypeOf<OfContract>().toExtend<Subscription>();
  expectTypeOf<Pick<Subscription, 'id' | 'status' | 'product' | 'iccid'>>().toExtend<
    Pick<OfContract, 'id' | 'status' | 'product' | 'iccid'>
  >();
});

test('a record with some fields is parsed as far as it has them', () => {
  const some = { iccid: '8944500102198304826', expirationDate: '2024-05-31T08:00:04Z', product: { name: 'Date' } };
  expect(parseSubscription(some as Subscription)).toEqual({ ...some, expirationDate: new Date(some.expirationDate) });
  expect(parseSubscription({ auto_renew: 'true' } as Subscription)).toEqual({ auto_renew: true });
  expect(parseSubscription({} as Subscription)).toEqual({});
});

test('each date of the contract is parsed as a date, each boolean as a boolean, and nothing else', () => {
  const texts = { text: 'true', instant: '2024-05-01T08:00:00Z', integer: 1, boolean: 'true' };
  const values = { ...texts, instant: new Date(texts.instant), boolean: true };
  const recordOf = (each: typeof texts | typeof values) => recordWith(({ type }: RecordField) => each[type]);
  expect(parseSubscription(recordOf(texts) as object as Subscription)).toEqual(recordOf(values));
});
