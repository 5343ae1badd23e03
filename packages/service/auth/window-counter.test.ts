import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from './network.ts';
import { createWindowCounter } from './window-counter.ts';

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
