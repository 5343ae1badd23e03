import { describe, expect, test } from 'vitest';
import { readConfig, showConfig } from './config.ts';

describe('settings', () => {
  test('have defaults that suit a first start', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ HOST: '127.0.0.1', PORT: 8080, DATA_DIR: './data', DATABASE_URL: undefined });
    expect(config.publicUrl).toBe('http://127.0.0.1:8080');
    expect(config.limits).toEqual({ sizeDefault: 20, sizeMax: 1_000, firstPage: 1 });
  });

  test('an empty variable counts as one that is not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toEqual(readConfig({}));
  });

  test.each([
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['::', 'http://127.0.0.1:8080'],
    ['::1', 'http://[::1]:8080'],
    ['reports.internal', 'http://reports.internal:8080'],
  ])('without PUBLIC_URL, HOST %s is reached under %s', (host, url) => {
    expect(readConfig({ HOST: host }).publicUrl).toBe(url);
  });

  test.each([
    ['https://reports.example.com', 'https://reports.example.com'],
    ['https://reports.example.com/', 'https://reports.example.com'],
    ['https://example.com/reports//', 'https://example.com/reports'],
  ])('PUBLIC_URL %s is %s', (given, url) => {
    expect(readConfig({ PUBLIC_URL: given }).publicUrl).toBe(url);
  });

  test.each([
    ['PORT', '0'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', ' 80'],
    ['PORT', '0x50'],
    ['PORT', '1e3'],
    ['PUBLIC_URL', 'reports.example.com'],
    ['PUBLIC_URL', 'ftp://reports.example.com'],
    ['PUBLIC_URL', 'https://reports.example.com/?a=1'],
    ['PUBLIC_URL', 'https://reports.example.com/#a'],
    ['HOST', '  '],
    ['FIRST_PAGE', '2'],
    ['LOG_LEVEL', 'verbose'],
    ['MIGRATE_ON_START', 'yes'],
    ['PAGE_SIZE_MAX', '10001'],
    ['REFRESH_GRACE_SECONDS', '301'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.1,,10.0.0.2'],
    ['SIGNING_ALGORITHM', 'HS256'],
  ])('%s=%j is refused by a sentence with its name, its rule and its value', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        message: expect.stringMatching(new RegExp(`^Cannot use ${name}: it must be .+: current value is '`)),
      }),
    );
  });

  test('a secret that is wrong is not shown', () => {
    expect(() => readConfig({ DATABASE_URL: 'mysql://u:hidden@h/d' })).toThrow(/^(?!.*hidden)Cannot use DATABASE_URL/);
  });

  test('TRUSTED_PROXIES is a list', () => {
    expect(readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).TRUSTED_PROXIES).toEqual(['10.0.0.0/8', '::1']);
    expect(readConfig({}).TRUSTED_PROXIES).toEqual([]);
  });

  test('all faults are told at once', () => {
    expect(() => readConfig({ PORT: 'x', FIRST_PAGE: 'x', SUBREPORT_X: '1' })).toThrow(
      /SUBREPORT_X.*PORT.*FIRST_PAGE/s,
    );
  });

  test('PAGE_SIZE_DEFAULT above PAGE_SIZE_MAX is refused', () => {
    expect(() => readConfig({ PAGE_SIZE_DEFAULT: '50', PAGE_SIZE_MAX: '40' })).toThrow(/at most PAGE_SIZE_MAX/);
  });

  test('passwords are masked wherever they stand in the URL', () => {
    const environment = { DATABASE_URL: 'postgres://user:hidden@db/d?sslpassword=hidden&sslmode=require' };
    const shown = showConfig(readConfig(environment), environment).find(({ name }) => name === 'DATABASE_URL');
    expect(shown?.value).toBe('postgres://user:***@db/d?sslpassword=***&sslmode=require');
  });
});
