import { expect, test } from 'vitest';
import { createGroups } from './directory-groups.ts';

const hadNoEffect = (error: unknown): boolean => (error as Error).message !== 'connection lost';

/** Groups that a test finishes by hand, with the items of each. */
function controlled() {
  const groups: { readonly items: readonly string[]; readonly finish: (failed?: Error) => void }[] = [];
  const run = createGroups<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const finish = (failed?: Error) =>
          failed === undefined ? resolve(items.map((item) => `${item}!`)) : reject(failed);
        groups.push({ items, finish });
      }),
    hadNoEffect,
  );
  return { run, groups, listed: () => groups.map(({ items }) => items) };
}

test('items that arrive while a group runs form the next group, each with its own result', async () => {
  const { run, groups, listed } = controlled();
  const first = run('a');
  await expect.poll(listed).toEqual([['a']]);
  const others = [run('b'), run('c')];
  groups[0]?.finish();
  expect(await first).toBe('a!');
  await expect.poll(listed).toEqual([['a'], ['b', 'c']]);
  groups[1]?.finish();
  expect(await Promise.all(others)).toEqual(['b!', 'c!']);
});

test('a group that does not end delays the next one only for a moment', async () => {
  const { run, groups, listed } = controlled();
  void run('stuck');
  await expect.poll(listed).toEqual([['stuck']]);
  const next = run('next');
  await expect.poll(listed).toEqual([['stuck'], ['next']]);
  groups[1]?.finish();
  expect(await next).toBe('next!');
});

test('if a group fails without an effect, each of its items runs alone and fails only by itself', async () => {
  const { run, groups, listed } = controlled();
  const results = Promise.allSettled([run('a'), run('b')]);
  await expect.poll(listed).toEqual([['a', 'b']]);
  groups[0]?.finish(new Error('one of both'));
  await expect.poll(listed).toEqual([['a', 'b'], ['a'], ['b']]);
  groups[1]?.finish();
  groups[2]?.finish(new Error('b alone'));
  expect(await results).toMatchObject([
    { status: 'fulfilled', value: 'a!' },
    { status: 'rejected', reason: { message: 'b alone' } },
  ]);
});

test('if a group may have had an effect although it failed, all its items fail and none runs again', async () => {
  const groups: (readonly string[])[] = [];
  const run = createGroups<string, string>(async (items) => {
    groups.push([...items]);
    throw new Error('connection lost');
  }, hadNoEffect);
  expect(await Promise.allSettled([run('a'), run('b')])).toMatchObject([
    { status: 'rejected', reason: { message: 'connection lost' } },
    { status: 'rejected', reason: { message: 'connection lost' } },
  ]);
  expect(groups).toEqual([['a', 'b']]);
});
