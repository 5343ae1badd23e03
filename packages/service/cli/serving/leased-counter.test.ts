import { expect, test } from 'vitest';
import { createWindowCounter } from '../../auth/window-counter.ts';
import { createLeasedCounter } from './leased-counter.ts';

test('two processes together never exceed the limit, and rarely ask for a lease', async () => {
  let now = 0;
  let asked = 0;
  const windows = createWindowCounter(60_000, () => now);
  const take = async (key: string, by: number) => {
    asked += 1;
    return windows.add(key, by);
  };
  const processes = [createLeasedCounter(take, () => now), createLeasedCounter(take, () => now)] as const;
  const accept = async (): Promise<number> => {
    const counts = await Promise.all(
      Array.from({ length: 4_000 }, (_, n) => (n % 3 === 0 ? processes[1] : processes[0]).add('acme', 1_000)),
    );
    return counts.filter(({ count }) => count <= 1_000).length;
  };
  expect(await accept()).toBe(1_000);
  expect(asked).toBeLessThanOrEqual(102); // a hundredth of the limit at a time
  now = 60_000;
  expect(await accept()).toBe(1_000);
});

test('a lease ends with its window, and a limit below the size of a lease is counted one by one', async () => {
  let now = 0;
  const windows = createWindowCounter(60_000, () => now);
  const take = async (key: string, by: number) => windows.add(key, by);
  const [first, second] = [createLeasedCounter(take, () => now), createLeasedCounter(take, () => now)];
  expect(await first.add('a', 2)).toEqual({ count: 1, msLeft: 60_000 });
  now = 1_000;
  expect(await second.add('a', 2)).toEqual({ count: 2, msLeft: 59_000 });
  expect((await first.add('a', 2)).count).toBe(3);
  expect(first.add('a', 2)).toEqual({ count: 3, msLeft: 59_000 });
  now = 60_000;
  expect(await first.add('a', 2)).toEqual({ count: 1, msLeft: 60_000 });
});
