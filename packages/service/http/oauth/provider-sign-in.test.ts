import { describe, expect, test } from 'vitest';
import { isReturnPath } from './provider-sign-in.ts';

describe('pages to return to after a sign-in', () => {
  test.each([
    '/console',
    '/console/',
    '/console/subscriptions?status=ACTIVE&sort=-createdDate&page=3',
    '/console/subscriptions/8f2a%2Fb?size=50',
    '/console/changes',
  ])('%s is a page of the console', (path) => {
    expect(isReturnPath(path)).toBe(true);
  });

  test.each([
    'https://evil.example.com/',
    '//evil.example.com/console/',
    '/\\evil.example.com/console/',
    '/console\\@evil.example.com',
    '/console.evil.example.com/',
    '/consolefoo',
    '.evil.example.com',
    '@evil.example.com',
    'javascript:alert(1)',
    '/console/../oauth2/token',
    '/console/%2e%2e/docs',
    '/docs',
    '/console/\r\nset-cookie: a=b',
    '/console/\u0000',
    '/console/ä',
    '/console/#fragment with a space',
    '/console/sign-in',
    '/console/sign-out?x=1',
    '/console/x/../sign-out',
    '/console/callback?code=1',
    '/console/session',
    '/console/connect-api/v1/subscription',
    '/console/static/main.js',
    `/console/${'x'.repeat(2_500)}`,
    '',
  ])('%j is not', (path) => {
    expect(isReturnPath(path)).toBe(false);
  });
});
