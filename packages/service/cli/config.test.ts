import { describe, expect, test } from 'vitest';
import { readConfig, settings, showConfig } from './config.ts';

describe('settings', () => {
  test('have defaults that suit a first start', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ HOST: '127.0.0.1', PORT: 8080, DATA_DIR: './data', DATABASE_URL: undefined });
    expect(config.publicUrl).toBe('http://127.0.0.1:8080');
    expect(config.limits).toEqual({ sizeDefault: 20, sizeMax: 1_000, firstPage: 1 });
  });

  test('treat an empty variable as unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toEqual(readConfig({}));
  });

  test.each([
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['::', 'http://127.0.0.1:8080'],
    ['::1', 'http://[::1]:8080'],
    ['reports.internal', 'http://reports.internal:8080'],
  ])('without PUBLIC_URL, HOST %s is reached at %s', (host, url) => {
    expect(readConfig({ HOST: host }).publicUrl).toBe(url);
  });

  test.each([
    ['https://reports.example.com', 'https://reports.example.com'],
    ['https://reports.example.com/', 'https://reports.example.com'],
    ['https://example.com/reports//', 'https://example.com/reports'],
  ])('normalise PUBLIC_URL %s to %s', (given, url) => {
    expect(readConfig({ PUBLIC_URL: given }).publicUrl).toBe(url);
  });

  test.each([
    ['PORT', '0'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PUBLIC_URL', 'reports.example.com'],
    ['PUBLIC_URL', 'ftp://reports.example.com'],
    ['PUBLIC_URL', 'https://reports.example.com/?a=1'],
    ['PUBLIC_URL', 'https://reports.example.com/#a'],
    ['HOST', 'two words'],
    ['HOST', 'fe80::1%eth0'],
    ['FIRST_PAGE', '2'],
    ['LOG_LEVEL', 'verbose'],
    ['MIGRATE_ON_START', 'yes'],
    ['PAGE_SIZE_MAX', '10001'],
    ['REFRESH_GRACE_SECONDS', '301'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.1,,10.0.0.2'],
    ['SIGNING_ALGORITHM', 'HS256'],
    ['OIDC_ISSUER', 'http://id.example.com'],
    ['OIDC_ISSUER', 'id.example.com'],
    ['OIDC_ISSUER', 'https://id.example.com/?realm=acme'],
    ['OIDC_ISSUER', 'https://id.example.com/#acme'],
    ['OIDC_ISSUER', 'https://id.example.com/a b'],
    ['MANAGEMENT_URL', 'admin.example.com'],
    ['MANAGEMENT_ALLOWED_HOSTS', 'https://admin.example.com'],
    ['MANAGEMENT_ALLOWED_HOSTS', '*'],
    ['OIDC_ISSUER', 'http://127.0.0.1.example.com'],
    ['OIDC_PROFILE', 'okta'],
    ['OIDC_AUDIENCE', 'two words'],
    ['OIDC_AUDIENCE', 'a"quote'],
    ['OIDC_CLIENT_ID_CLAIM', 'sub'],
    ['OIDC_CLIENT_ID_CLAIM', 'preferred_username'],
    ['OIDC_SCOPE_CLAIM', 'scope scp'],
    ['OIDC_REQUIRED_SCOPE', 'subscription:read other:read'],
  ])('reject %s=%j with its name, rule and value', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        message: expect.stringMatching(new RegExp(`^Cannot use ${name}: it must be .+: current value is '`)),
      }),
    );
  });

  test.each([
    ['OIDC_ISSUER', 'https://user:hidden@id.example.com'],
    ['OIDC_ISSUER', 'https://user:hid/hidden@x@id.example.com'],
    ['PUBLIC_URL', 'https://user:hidden@reports.example.com'],
    ['OIDC_AUDIENCE', 'https://user:hidden@reports.example.com/two words'],
  ])('reject a password inside %s without showing it', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      new RegExp(`^(?!.*hidden)Cannot use ${name}: .*'https://\\*\\*\\*@`, 's'),
    );
  });

  test('read MANAGEMENT_ALLOWED_HOSTS as a list of names', () => {
    const { MANAGEMENT_ALLOWED_HOSTS: names } = readConfig({ MANAGEMENT_ALLOWED_HOSTS: 'subreport, Reports.internal' });
    expect([names, readConfig({}).MANAGEMENT_ALLOWED_HOSTS]).toEqual([['subreport', 'Reports.internal'], []]);
  });

  test('read TRUSTED_PROXIES as a list', () => {
    expect(readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).TRUSTED_PROXIES).toEqual(['10.0.0.0/8', '::1']);
    expect(readConfig({}).TRUSTED_PROXIES).toEqual([]);
  });

  test('report all faults at once', () => {
    expect(() => readConfig({ PORT: 'x', FIRST_PAGE: 'x', SUBREPORT_X: '1' })).toThrow(
      /SUBREPORT_X.*PORT.*FIRST_PAGE/s,
    );
  });

  test('reject a PAGE_SIZE_DEFAULT above PAGE_SIZE_MAX', () => {
    expect(() => readConfig({ PAGE_SIZE_DEFAULT: '50', PAGE_SIZE_MAX: '40' })).toThrow(/at most PAGE_SIZE_MAX/);
  });

  test('mask passwords anywhere in the URL', () => {
    const environment = { DATABASE_URL: 'postgres://user:hidden@db/d?sslpassword=hidden&sslmode=require' };
    const shown = showConfig(readConfig(environment), environment).find(({ name }) => name === 'DATABASE_URL');
    expect(shown?.value).toBe('postgres://user:***@db/d?sslpassword=***&sslmode=require');
  });

  test('keep the URL of an external issuer unchanged and derive the other defaults from it', () => {
    expect(readConfig({}).external).toBeUndefined();
    const PUBLIC_URL = 'https://reports.example.com/';
    for (const OIDC_ISSUER of ['https://id.example.com/', 'https://id.example.com/realms/a', 'http://127.0.0.1:8081']) {
      expect(readConfig({ PUBLIC_URL, OIDC_ISSUER }).external).toEqual({
        issuer: OIDC_ISSUER,
        audience: 'https://reports.example.com/connect-api',
        profile: 'rfc9068',
        clientIdClaim: undefined,
        scopeClaim: 'scope',
        requiredScope: undefined,
      });
    }
    expect(
      readConfig({
        OIDC_ISSUER: 'https://id.example.com',
        OIDC_AUDIENCE: 'api://reports',
        OIDC_PROFILE: 'keycloak',
        OIDC_CLIENT_ID_CLAIM: 'cid',
        OIDC_SCOPE_CLAIM: 'scp',
        OIDC_REQUIRED_SCOPE: '*',
      }).external,
    ).toEqual({
      issuer: 'https://id.example.com',
      audience: 'api://reports',
      profile: 'keycloak',
      clientIdClaim: 'cid',
      scopeClaim: 'scp',
      requiredScope: '*',
    });
  });

  const consoleCredentials = {
    OIDC_CONSOLE_CLIENT_ID: 'subreport-console',
    OIDC_CONSOLE_CLIENT_SECRET: 'a-secret-of-the-console',
  };

  test.each(Object.keys(settings).filter((name) => name.startsWith('OIDC_') && name !== 'OIDC_ISSUER'))(
    '%s without OIDC_ISSUER is refused',
    (name) => {
      const others = { OIDC_CLIENT_ID_CLAIM: 'azp' };
      const right = { OIDC_PROFILE: 'keycloak', ...others, ...consoleCredentials }[name] ?? 'word';
      const shown = name === 'OIDC_CONSOLE_CLIENT_SECRET' ? '' : `: current value is '${right}'`;
      for (const OIDC_ISSUER of [undefined, ''])
        expect(messageOf({ [name]: right, OIDC_ISSUER })).toBe(
          `Cannot use ${name}: it must be set together with OIDC_ISSUER${shown}`,
        );
      const together = { ...(name in consoleCredentials && consoleCredentials), [name]: right };
      expect(readConfig({ ...together, OIDC_ISSUER: 'https://id.example.com' }).external).toBeDefined();
    },
  );

  test('the sign-in at the identity provider needs the id and the secret of the console', () => {
    const issuer = { OIDC_ISSUER: 'https://id.example.com' };
    expect(
      readConfig({ ...issuer, ...consoleCredentials, PUBLIC_URL: 'https://reports.example.com' }).provider,
    ).toEqual({
      issuer: 'https://id.example.com',
      clientId: 'subreport-console',
      clientSecret: 'a-secret-of-the-console',
      clientClaim: 'subreport_client',
      consoleUrl: 'https://reports.example.com/console',
    });
    expect(readConfig(issuer).provider).toBeUndefined();
    for (const [name, value] of Object.entries(consoleCredentials)) {
      const message = messageOf({ ...issuer, [name]: value });
      expect(message).toContain(`Cannot use ${name}: it must be set together with OIDC_CONSOLE_CLIENT_`);
      expect(message).not.toContain('a-secret');
    }
    expect(messageOf({ ...issuer, ...consoleCredentials, OIDC_CONSOLE_CLIENT_SECRET: 'short' })).toBe(
      'Cannot use OIDC_CONSOLE_CLIENT_SECRET: it must be at least 16 characters of printable ASCII, as the identity provider shows it',
    );
  });
  test('reject an OIDC_ISSUER that is this service', () => {
    const PUBLIC_URL = 'https://reports.example.com';
    expect(() => readConfig({ PUBLIC_URL, OIDC_ISSUER: PUBLIC_URL })).toThrow(/OIDC_ISSUER: it must be another issuer/);
  });
});

describe('KEY_ENCRYPTION_SECRET', () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));

  test.each([
    ['base64', bytes.toString('base64')],
    ['base64url', bytes.toString('base64url')],
    ['hexadecimal', bytes.toString('hex')],
  ])('is read as 32 random bytes in %s (11.1.1)', (_encoding, KEY_ENCRYPTION_SECRET) => {
    expect(readConfig({ KEY_ENCRYPTION_SECRET }).KEY_ENCRYPTION_SECRET).toBe(KEY_ENCRYPTION_SECRET);
  });

  test.each([
    ['32 × a', 'a'.repeat(32)],
    ['44 × a', 'a'.repeat(44)],
    ['31 bytes', bytes.subarray(1).toString('base64')],
    ['a sentence', 'a secret of at least 32 characters, also of é'],
  ])('that is %s is rejected without being shown, but accepted as the previous one (11.1.1)', (_what, weak) => {
    const attempt = () => readConfig({ KEY_ENCRYPTION_SECRET: weak });
    expect(attempt).toThrow(/^Cannot use KEY_ENCRYPTION_SECRET: it must be at least 32 random bytes .* openssl rand/);
    expect(attempt).not.toThrow(weak);
    const moved = { KEY_ENCRYPTION_SECRET: bytes.toString('base64'), KEY_ENCRYPTION_SECRET_BEFORE: weak };
    if (weak.length >= 32) expect(readConfig(moved).KEY_ENCRYPTION_SECRET_BEFORE).toBe(weak);
  });
});

/** The message of a rejected configuration; empty if it is accepted. */
function messageOf(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
