import { expect, test } from 'vitest';
import { TokenError } from '../error.ts';
import { chooseScopes } from './grant.ts';

const allowed = ['subscription:read', 'subscription:write'];

test.each([
  [undefined, allowed],
  ['subscription:read', ['subscription:read']],
  ['subscription:write subscription:read', ['subscription:write', 'subscription:read']],
  ['subscription:read subscription:read', ['subscription:read']],
  ['openid subscription:read', ['subscription:read']],
  ['openid profile', allowed],
])('requesting the scope %j grants %j (RFC 6749 §3.3)', (requested, granted) => {
  expect(chooseScopes(requested, allowed)).toEqual(granted);
});

test.each(['admin', 'subscription:read admin', 'SUBSCRIPTION:READ', '', ' ', 'subscription:read ', 'a\tb'])(
  'requesting the scope %j is invalid_scope (RFC 6749 §3.3)',
  (requested) => {
    expect(() => chooseScopes(requested, allowed)).toThrow(
      expect.objectContaining({ name: 'TokenError', code: 'invalid_scope' }),
    );
  },
);

test('a client without scopes gets invalid_scope, whatever it requests', () => {
  for (const requested of [undefined, 'openid', 'subscription:read'])
    expect(() => chooseScopes(requested, [])).toThrow(TokenError);
});
