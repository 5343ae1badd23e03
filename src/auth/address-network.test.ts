import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from './address-network.ts';

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
