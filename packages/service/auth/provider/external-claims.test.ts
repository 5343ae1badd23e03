import { expect, test } from 'vitest';
import {
  type ExternalSettings,
  externalTokenSecondsMax,
  externalToleranceSeconds,
  readExternalClaims,
} from './external-claims.ts';

const settings: ExternalSettings = {
  ...{ issuer: 'https://id.example', audience: 'report', profile: 'rfc9068' },
  ...{ clientIdClaim: undefined, scopeClaim: 'scope', requiredScope: undefined },
};

test.each([
  [300, 300],
  [externalTokenSecondsMax, externalTokenSecondsMax],
  [10 * externalTokenSecondsMax, externalTokenSecondsMax],
])('a token of another issuer for %i s is valid for %i s, and the tolerance', (given, valid) => {
  const payload = {
    sub: 'acme',
    jti: 'x',
    client_id: 'acme',
    scope: 'subscription:read',
    iat: 1_000,
    exp: 1_000 + given,
  };
  const { validUntil } = readExternalClaims(settings, { alg: 'ES256', typ: 'at+jwt' }, payload);
  expect(validUntil).toBe(1_000 + valid + externalToleranceSeconds);
});
