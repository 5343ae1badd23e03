import { expectTypeOf, test } from 'vitest';
import type * as contract from '../contract/subscription.ts';
import type { Product, Subscription } from './records.ts';

type OfContract = contract.Subscription;

test('the types of the library have the members of the contract, and no others', () => {
  expectTypeOf<keyof Subscription>().toEqualTypeOf<keyof OfContract>();
  expectTypeOf<keyof Product>().toEqualTypeOf<keyof OfContract['product']>();
  expectTypeOf<OfContract>().toExtend<Subscription>();
  expectTypeOf<Pick<Subscription, 'id' | 'status' | 'product' | 'iccid'>>().toExtend<
    Pick<OfContract, 'id' | 'status' | 'product' | 'iccid'>
  >();
});
