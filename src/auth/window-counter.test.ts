import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWindowCounter, LeasedCounter, networkOf } from './window-counter.ts';

test('a window opens at its first count, closes after its length, and states the time left', () => {
  let now = 0;
  const counter = createWindowCounter(60_000, () => now);
  expect(counter.read('a')).toEqual({ count: 0, msLeft: 0 });
  expect(counter.add('a')).toEqual({ count: 1, msLeft: 60_000 });
  now = 59_999;
  expect(counter.add('a')).toEqual({ count: 2, msLeft: 1 });
  expect(counter.read('a')).toEqual({ count: 2, msLeft: 1 });
  expect(counter.add('b')).toEqual({ count: 1, msLeft: 60_000 });
  now = 60_000;
  expect(counter.read('a')).toEqual({ count: 0, msLeft: 0 });
  expect(counter.add('a')).toEqual({ count: 1, msLeft: 60_000 });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1:2:3:4', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('the address %s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('IPv6 addresses are counted together exactly when their first 64 bits are equal', () => {
  const group = fc.integer({ min: 1, max: 0xffff }).map((number) => number.toString(16));
  const half = fc.array(group, { minLength: 4, maxLength: 4 }).map((groups) => groups.join(':'));
  fc.assert(
    fc.property(half, half, half, (first, second, third) => {
      expect(networkOf(`${first}:${second}`)).toBe(networkOf(`${first}:${third}`));
      expect(networkOf(`${first}:${third}`) === networkOf(`${second}:${third}`)).toBe(first === second);
    }),
  );
});

test('two processes together never exceed the limit, and rarely ask for a lease', async () => {
  let now = 0;
  let asked = 0;
  const windows = createWindowCounter(60_000, () => now);
  const take = async (key: string, by: number) => {
    asked += 1;
    return windows.add(key, by);
  };
  const processes = [new LeasedCounter(take, () => now), new LeasedCounter(take, () => now)] as const;
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
  const [first, second] = [new LeasedCounter(take, () => now), new LeasedCounter(take, () => now)];
  expect(first.tryAdd('a', 2)).toBeUndefined();
  expect(await first.add('a', 2)).toEqual({ count: 1, msLeft: 60_000 });
  now = 1_000;
  expect(await second.add('a', 2)).toEqual({ count: 2, msLeft: 59_000 });
  expect((await first.add('a', 2)).count).toBe(3);
  expect(first.tryAdd('a', 2)).toEqual({ count: 3, msLeft: 59_000 });
  now = 60_000;
  expect(first.tryAdd('a', 2)).toBeUndefined();
  expect(await first.add('a', 2)).toEqual({ count: 1, msLeft: 60_000 });
});
