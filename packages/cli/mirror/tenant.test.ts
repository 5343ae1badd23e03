import { expect, test } from 'vitest';
import type { CallOperation } from '../../contract/operator/operations.ts';
import { TenantTarget } from './tenant.ts';

test('a tenant that was not as expected before the first of several requests is so for all', async () => {
  const expected = [false, true];
  const call = async () => ({
    rejected: [],
    digests: [],
    revision_token: `token-${expected.length}`,
    is_expected: expected.shift(),
  });
  const records = Array.from({ length: 1_001 }, (_, n) => ({ id: `id_${n}` }));
  const target = new TenantTarget(call as unknown as CallOperation, 'acme');
  const ages = { newAsOf: null, changesAsOf: null };
  expect(await target.apply({ records, removed: [], ages, token: 'before' })).toMatchObject({
    isExpected: false,
    token: 'token-1',
  });
  expect(expected).toEqual([]);
});
