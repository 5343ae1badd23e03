import { expect, test } from 'vitest';
import { webhookNamed } from './webhook-options.ts';

test.each([
  'https://example.com/hooks#part',
  'https://user@example.com/',
  'https://:p@example.com/',
  'http://example.com/',
])('the endpoint %s is wrong use, and only its origin is shown', (url) => {
  const given = { to: `webhook:${url}`, state: 'state.db' };
  expect(() => webhookNamed(given)).toThrow(
    /^Cannot use --to: .*: current value is webhook:https?:\/\/example.com\/…$/,
  );
});
