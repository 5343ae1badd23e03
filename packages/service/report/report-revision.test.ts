import { expect, test } from 'vitest';
import type { Store, TenantId } from '../storage/store.ts';
import { createRevisionLookup } from './report-revision.ts';

/** A lookup in a store whose mark the test sets, and which counts the reads of each tenant. */
function lookup() {
  const given: { mark: number | undefined; fails: boolean; read: unknown[] } = { mark: 1, fails: false, read: [] };
  const store = {
    changeMark: () => given.mark,
    async readDirectory(_text: string, [tenant]: readonly unknown[]) {
      given.read.push(tenant);
      if (given.fails) throw new Error('away');
      return [{ revision: 7 }];
    },
  } as unknown as Store;
  const find = createRevisionLookup(store);
  return { given, ask: (tenant: string) => find(tenant as TenantId) };
}

test('a revision is cached while the change mark stays, and concurrent callers share a query', async () => {
  const { given, ask } = lookup();
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual([7, 7, 7]);
  await ask('a');
  expect(given.read).toEqual(['a', 'b']);
  given.mark = 2;
  await ask('a');
  given.mark = undefined;
  for (let n = 0; n < 2; n += 1) await ask('a');
  expect(given.read).toEqual(['a', 'b', 'a', 'a', 'a']);
});

test('a failed read of a revision is not cached', async () => {
  const { given, ask } = lookup();
  given.fails = true;
  for (let n = 0; n < 2; n += 1) await expect(ask('a')).rejects.toThrow('away');
  given.fails = false;
  expect(await ask('a')).toBe(7);
  expect(given.read).toHaveLength(3);
});
