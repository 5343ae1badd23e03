import { expect, test } from 'vitest';
import { healthStrings } from './health-strings.ts';

test.each([
  [['acme', 'acme'], 'import into acme began'],
  [['a', 'b', 'c'], 'import into a, b, c began'],
  [['a', 'b', 'c', 'd', 'e', 'a'], 'import into a, b, c and 2 more began'],
])('of the tenants %j, a mark names three and counts the others', (tenants, text) => {
  expect(healthStrings.begun(tenants)).toBe(text);
});
