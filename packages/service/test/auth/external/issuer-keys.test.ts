import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AccessError, IssuerError } from '../../../auth/error.ts';
import type { ExternalSettings } from '../../../auth/provider/external-claims.ts';
import { createExternalIssuer } from '../../../auth/provider/external-issuer.ts';
import type { ExternalIssuer } from '../../../auth/verify/resource-server.ts';
import { type IssuerKey, makeKey, type ScriptedIssuer, sign, startScriptedIssuer } from './issuers.ts';

const start = 1_800_000_000;
const audience = 'https://reports.example/connect-api';
const keysPath = '/keys';
const openidPath = '/.well-known/openid-configuration';
const oauthPath = '/.well-known/oauth-authorization-server';

// Titles carry the number of the rule in packages/service/test/auth/token-checklist.md and the
// section of the standard.
describe('the keys of an external issuer', () => {
  let keys: IssuerKey[];
  let server: ScriptedIssuer;
  let issuer: ExternalIssuer;
  let time = start;
  /** Seconds by which the clock was set back. */
  let setBack = 0;
  let faults: IssuerError[];
  const reads = (): number => server.requested.filter((path) => path === keysPath).length;

  const open = (given: Partial<ExternalSettings> = {}): ExternalIssuer => {
    const told = faults; // a reading that outlives its test must not tell the next one
    return createExternalIssuer(
      {
        issuer: server.url,
        audience,
        profile: 'rfc9068',
        clientIdClaim: undefined,
        scopeClaim: 'scope',
        requiredScope: undefined,
        ...given,
      },
      { now: () => time, elapsedSeconds: () => time + setBack, onFault: (error) => told.push(error) },
    );
  };
  const key = (index: number): IssuerKey => keys[index] as IssuerKey;
  let serial = 0;
  /** A valid token, different each time. */
  const token = (signer = key(0), more: Record<string, unknown> = {}, header = {}) =>
    sign(signer, header, {
      iss: server.url,
      aud: audience,
      sub: 'acme',
      client_id: 'acme',
      scope: 'subscription:read',
      iat: time,
      exp: time + 300,
      jti: `${++serial}`,
      ...more,
    });
  const verdict = async (signer = key(0), more: Record<string, unknown> = {}, header = {}) =>
    judge(await token(signer, more, header));
  const judge = (text: string) =>
    issuer
      .verify(text)
      .then(() => 'accepted')
      .catch((error: unknown) => {
        if (error instanceof AccessError) return error.code;
        if (error instanceof IssuerError) return 'UNAVAILABLE';
        throw error;
      });
  /** Responds with a status and nothing else. */
  const fail = (status: number) => (_path: string, response: ServerResponse) => {
    response.writeHead(status).end();
    return undefined;
  };
  const publish = (...published: IssuerKey[]): void => {
    server.script = (path) =>
      path === keysPath
        ? { keys: published.map(({ publicJwk }) => publicJwk) }
        : { issuer: server.url, jwks_uri: `${new URL(server.url).origin}${keysPath}` };
  };

  beforeAll(async () => {
    keys = await Promise.all(['k1', 'k2', 'k3'].map((kid) => makeKey('ES256', kid)));
  });
  beforeEach(async () => {
    [time, setBack] = [start, 0];
    faults = [];
    server = await startScriptedIssuer([key(0)]);
    issuer = open();
  });
  afterEach(() => server.close());

  test('61: the keys are fetched once for concurrent tokens, and cached', async () => {
    expect(await Promise.all(Array.from({ length: 20 }, () => verdict()))).toEqual(Array(20).fill('accepted'));
    expect(server.requested).toEqual([openidPath, keysPath]);
  });

  test('61: an unknown key causes one immediate fetch for all concurrent tokens', async () => {
    await verdict();
    publish(key(0), key(1));
    expect(await Promise.all(Array.from({ length: 20 }, () => verdict(key(1))))).toEqual(Array(20).fill('accepted'));
    expect(await verdict(key(0))).toBe('accepted');
    expect(reads()).toBe(2);
  });

  test('61: a flood of made-up key ids causes one fetch in 30 seconds and delays no valid token', async () => {
    await verdict();
    const flood = async () => {
      for (let made = 0; made < 40; made += 1)
        expect(await verdict(key(2), {}, { kid: `made-up-${made}` })).toBe('INVALID_TOKEN');
    };
    await flood();
    expect(reads()).toBe(2);
    time = start + 29;
    await flood();
    expect(reads()).toBe(2);
    time = start + 30;
    await flood();
    expect(reads()).toBe(3);
    time = start + 60;
    const right = server.script;
    const fetched = Promise.withResolvers<() => void>();
    server.script = (path, response) => {
      fetched.resolve(() => response.end(JSON.stringify(right(path, response))));
      server.script = right;
      return undefined; // the response is held back
    };
    let isJudged = false;
    const madeUp = verdict(key(2), {}, { kid: 'made-up' }).finally(() => {
      isJudged = true;
    });
    const respond = await fetched.promise;
    expect([await verdict(), isJudged]).toEqual(['accepted', false]);
    respond();
    expect(await madeUp).toBe('INVALID_TOKEN');
  });

  test('61: made-up key ids cause no additional fetch when the first token has one', async () => {
    expect(await verdict(key(2))).toBe('INVALID_TOKEN');
    expect(reads()).toBe(1);
  });

  test('61: the keys are refreshed in the background after ten minutes', async () => {
    await verdict();
    time = start + 599;
    expect(await verdict()).toBe('accepted');
    expect(reads()).toBe(1);
    time = start + 600;
    expect(await verdict()).toBe('accepted');
    await expect.poll(reads).toBe(2);
  });

  test('61: no token waits for the background refresh of the keys', async () => {
    await verdict();
    server.script = () => undefined; // hangs
    time = start + 600;
    for (let sent = 0; sent < 10; sent += 1) expect(await verdict()).toBe('accepted');
    expect(faults).toEqual([]); // the refresh has not reached its time limit yet
    expect(server.requested.filter((path) => path === openidPath)).toHaveLength(2);
  });

  test.each([
    ['refuses connections', 'close'],
    ['answers 503', 503],
    ['has forgotten its keys', 404],
  ] as const)(
    '61: an issuer that %s is retried every 30 seconds, and the last fetched keys stay in use',
    async (_title, how) => {
      await verdict();
      if (how === 'close') await server.close();
      else server.script = fail(how);
      for (const [seconds, failures] of [
        [600, 1],
        [629, 1],
        [630, 2],
        [86_400, 3],
      ] as const) {
        time = start + seconds;
        expect(await verdict()).toBe('accepted');
        await expect.poll(() => faults.length).toBe(failures);
        expect(await verdict()).toBe('accepted');
      }
      // The key of this token may be a new one, which cannot be determined now.
      expect(await verdict(key(1))).toBe('UNAVAILABLE');
      expect(await verdict(key(1))).toBe('UNAVAILABLE');
      if (how === 'close') server = await startScriptedIssuer([]); // for afterEach
    },
  );

  test('61: an unusable key set does not replace the usable one', async () => {
    await verdict();
    for (const bad of [{ keys: [] }, { keys: 'none' }, {}, { keys: [null] }, []]) {
      server.script = (path) =>
        path === keysPath ? bad : { issuer: server.url, jwks_uri: `${server.url}${keysPath}` };
      time += 600;
      const before = faults.length;
      expect(await verdict()).toBe('accepted');
      await expect.poll(() => faults.length).toBe(before + 1);
      expect(await verdict()).toBe('accepted');
    }
  });

  test('59, 60: tokens accepted before are rejected once the issuer withdraws their key', async () => {
    const old = await token(key(0), { exp: start + 86_400 });
    expect(await judge(old)).toBe('accepted');
    publish(key(1));
    time = start + 600;
    expect(await judge(old)).toBe('accepted'); // this one begins the reading
    await expect.poll(() => judge(old)).toBe('INVALID_TOKEN');
  });

  test('57, 60 (RFC 7519 §4.1.4): a cached result expires with the token, plus 30 seconds for clock differences', async () => {
    const short = await token(key(0), { exp: start + 100 });
    expect(await judge(short)).toBe('accepted');
    time = start + 129;
    expect(await judge(short)).toBe('accepted');
    time = start + 130;
    expect(await judge(short)).toBe('INVALID_TOKEN');
    expect(await verdict(key(0), { nbf: time + 30 })).toBe('accepted');
    expect(await verdict(key(0), { nbf: time + 31 })).toBe('INVALID_TOKEN');
  });

  describe('with none read yet', () => {
    test('61: while an issuer is down, its tokens get 503 rather than 401, and it is retried after 5 seconds', async () => {
      server.script = fail(500);
      for (let sent = 0; sent < 10; sent += 1) expect(await verdict()).toBe('UNAVAILABLE');
      expect(server.requested).toHaveLength(1);
      publish(key(0));
      time = start + 4;
      expect(await verdict()).toBe('UNAVAILABLE');
      time = start + 5;
      expect(await verdict()).toBe('accepted');
    });

    test('61: a failed issuer is retried even if the clock was set back by two hours', async () => {
      server.script = fail(500);
      expect(await verdict()).toBe('UNAVAILABLE');
      publish(key(0));
      setBack = 7_200;
      time = start + 5 - setBack;
      expect(await verdict()).toBe('accepted');
    });

    test('61: an issuer that hangs times out after 5 seconds, whichever document is missing', async () => {
      const others = await Promise.all(['head', 'body', 'keys'].map(() => startScriptedIssuer([key(0)])));
      const [head, body, inKeys] = others as [ScriptedIssuer, ScriptedIssuer, ScriptedIssuer];
      head.script = () => undefined;
      body.script = (_path, response) => void response.writeHead(200).write('{"issuer":');
      const right = inKeys.script;
      inKeys.script = (path, response) => (path === keysPath ? undefined : right(path, response));
      const begun = performance.now();
      const ends = await Promise.all(
        others.map(async ({ url }) => {
          const verified = open({ issuer: url }).verify(await token(key(0), { iss: url }));
          return verified.catch((error: unknown) => (error as Error).name);
        }),
      );
      expect(ends).toEqual(Array(3).fill('IssuerError'));
      expect(performance.now() - begun).toBeGreaterThan(4_900);
      await Promise.all(others.map((each) => each.close()));
    });

    test('56, 65 (RFC 8414 §3.3): a discovery document of another issuer is not used, even if only a trailing slash differs', async () => {
      for (const other of [`${server.url}/`, 'https://attacker.example', undefined, 7]) {
        issuer = open();
        server.script = (path) =>
          path === keysPath ? { keys: [key(0).publicJwk] } : { issuer: other, jwks_uri: `${server.url}${keysPath}` };
        expect(await verdict()).toBe('UNAVAILABLE');
        expect(faults.at(-1)?.message).toContain(`its issuer must be exactly OIDC_ISSUER, '${server.url}'`);
        expect(faults.at(-1)?.message).toContain(`current value is '${other}'`);
      }
      expect(reads()).toBe(0);
    });

    test.each<[string, unknown]>([
      ['http elsewhere', 'http://keys.example/jwks'],
      ['a file', 'file:///etc/passwd'],
      ['no URL', 'jwks'],
      ['nothing', undefined],
    ])('59 (RFC 8414 §2): a jwks_uri that is %s is not followed', async (_title, uri) => {
      server.script = () => ({ issuer: server.url, jwks_uri: uri });
      expect(await verdict()).toBe('UNAVAILABLE');
      expect(faults[0]?.message).toContain('its jwks_uri must be an https URL');
    });

    test("61: an issuer's response above 256 KiB is not read to its end", async () => {
      server.script = (_path, response) => {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
          response.once('drain', more);
        };
        more();
        return undefined;
      };
      expect(await verdict()).toBe('UNAVAILABLE');
      expect(faults[0]?.message).toContain('at most 262144 bytes');
    });

    test.each<[string, (home: string, elsewhere: string) => string, string]>([
      ['within the origin is followed', (home) => `${home}/moved`, 'accepted'],
      ['relative is followed', () => '/moved', 'accepted'],
      ['to another origin is not', (_home, elsewhere) => `${elsewhere}/moved`, 'UNAVAILABLE'],
      ['in a circle is not for ever', (home) => `${home}${keysPath}`, 'UNAVAILABLE'],
    ])('59 (RFC 8725 §3.10): a redirect %s', async (_title, target, expected) => {
      const elsewhere = await startScriptedIssuer([key(0)]);
      elsewhere.script = () => ({ keys: [key(0).publicJwk] });
      const right = server.script;
      server.script = (path, response) => {
        if (path === '/moved') return { keys: [key(0).publicJwk] };
        if (path !== keysPath) return right(path, response);
        response.writeHead(302, { location: target(server.url, elsewhere.url) }).end();
        return undefined;
      };
      expect(await verdict()).toBe(expected);
      expect(elsewhere.requested).toEqual([]);
      expect(reads()).toBeLessThan(5);
      await elsewhere.close();
    });

    test.each([
      ['', openidPath, oauthPath],
      ['/', openidPath, oauthPath],
      ['/realms/acme', `/realms/acme${openidPath}`, `${oauthPath}/realms/acme`],
      ['/realms/acme/', `/realms/acme${openidPath}`, `${oauthPath}/realms/acme`],
    ])(
      '64 (RFC 8414 §3.1): for an issuer with the path %j, both locations of the document are tried',
      async (path, first, second) => {
        const other = await startScriptedIssuer([key(0)], path);
        issuer = open({ issuer: other.url });
        expect(await verdict(key(0), { iss: other.url })).toBe('accepted');
        expect(other.requested).toEqual([first, keysPath]);
        const right = other.script;
        other.script = (asked, response) => (asked === first ? fail(404)(asked, response) : right(asked, response));
        other.requested.length = 0;
        issuer = open({ issuer: other.url });
        expect(await verdict(key(0), { iss: other.url })).toBe('accepted');
        expect(other.requested).toEqual([first, second, keysPath]);
        await other.close();
      },
    );
  });
});
