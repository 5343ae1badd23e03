import { expect, test } from 'vitest';
import { oauthFlow } from './oauth-endpoints.ts';

test('invented client ids of one network share eight flows, and another network has its own', () => {
  const flows = (address: string) =>
    new Set(Array.from({ length: 1_000 }, (_, n) => oauthFlow(address, `invented-${n}`)));
  expect(flows('192.0.2.1').size).toBe(8);
  expect([...flows('192.0.2.2')].filter((flow) => flows('192.0.2.1').has(flow))).toEqual([]);
  expect(oauthFlow('192.0.2.1', 'acme')).toBe(oauthFlow('192.0.2.1', 'acme'));
});
