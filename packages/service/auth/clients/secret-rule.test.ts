import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateSecret } from './client-secret.ts';
import { secretFault } from './secret-rule.ts';

const context = ['acme-reporting', 'acme'];

test.each([
  ['password', 'it must be 16 to 512 printable ASCII characters on one line'],
  ['fifteen letters', 'it must be 16 to 512 printable ASCII characters on one line'],
  ['sixteen letters\n', 'it must be 16 to 512 printable ASCII characters on one line'],
  ['ünprintable letters', 'it must be 16 to 512 printable ASCII characters on one line'],
  ['aaaaaaaaaaaaaaaaaaaa', 'it must have at least 8 different characters'],
  ['passwordpassword', 'it must have at least 8 different characters'],
  ['admin admin admin admin', 'it must have at least 8 different characters'],
  ['abababababababababab', 'it must have at least 8 different characters'],
  ['my-Acme-Reporting-k3y', 'it must not contain the id or the tenant of its client'],
  ['the-ACME-tenant-9xK2', 'it must not contain the id or the tenant of its client'],
  ...[
    ...['Password12345678', 'P@ssw0rd1234567890', 'qwertyuiop123456', '1qaz2wsx3edc4rfv'],
    ...['correcthorsebatterystaple', 'changeme-changeme', 'letmein123letmein', 'Welcome2024Welcome2025'],
    ...['0123456789abcdef', 'abcdefghijklmnopqrstuvwxyz', 'subreport-client-secret', 'adminxyzadminxyz!!!!!!!!'],
  ].map((secret) => [
    secret,
    'it must have at least 8 characters that are not part of common words, digit sequences and repetitions',
  ]),
])('the secret %j is refused: %s (A 6.2.4, 6.2.11)', (secret, fault) => {
  expect(secretFault(secret as string, context)).toBe(fault);
});

test.each([
  'correct horse battery',
  '8f14e45fceea167a5a36dedd4bea2543',
  'k3y-of-the-billing-export',
  'Tr0ub4dor&3-Zx9!vq',
])('the secret %j is taken (A 6.2.4)', (secret) => expect(secretFault(secret, context)).toBeUndefined());

test('a secret of 513 characters is rejected (A 6.2.4)', () => {
  expect(secretFault(generateSecret().repeat(12).slice(0, 513), [])).toMatch(/^it must be 16 to 512/);
});

test('random secrets of 128 bits and more are accepted (A 6.2.4)', () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
  const random = bytes.filter((each) => new Set(each).size > 12);
  for (let n = 0; n < 1_000; n += 1) expect(secretFault(generateSecret(), ['x9'])).toBeUndefined();
  fc.assert(
    fc.property(fc.noShrink(random), (each) => {
      expect(secretFault(each.toString('base64'), ['x9'])).toBeUndefined();
    }),
  );
});
