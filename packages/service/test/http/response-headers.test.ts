import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { nginx } from '../../../../test/support/nginx.ts';
import { isInstalled, type ProxyProgram, startProxy } from '../../../../test/support/proxy.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import type { filterParameters } from '../../../contract/query.ts';
import { recordFields } from '../../../contract/record-fields.ts';
import { generateOperatorToken, hashOperatorToken } from '../../auth/verify/authorize-operator.ts';
import { insertOperatorToken } from '../../storage/tables/operator-token.ts';

/** Each with the buffers that it has by default, and nginx also as it is deployed. */
const proxies: Record<string, (port: string, service: string) => ProxyProgram> = {
  nginx: (port, service) => nginx(port, service, (site) => site.replaceAll(/^ *proxy_b.*\n/gm, '')),
  'nginx as deployed': nginx,
  haproxy: (port, service) => ({
    command: ['haproxy', '-db', '-f', 'FOLDER/cfg'],
    files: {
      cfg: `defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 9s
listen site\n bind 127.0.0.1:${port}\n server service 127.0.0.1:${service}\n`,
    },
  }),
  varnishd: (port, service) => ({
    command: [
      'varnishd',
      '-F',
      '-j',
      'none',
      '-n',
      'FOLDER',
      '-s',
      'malloc,8m',
      '-a',
      `127.0.0.1:${port}`,
      '-f',
      'FOLDER/vcl',
    ],
    files: {
      vcl: `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${service}"; .first_byte_timeout = 60s; }
sub vcl_recv { return (pass); }\n`,
    },
  }),
  caddy: (port, service) => ({
    command: ['caddy', 'run', '--config', 'FOLDER/Caddyfile'],
    files: {
      Caddyfile: `{\n auto_https off\n admin off\n}\nhttp://127.0.0.1:${port} {\n reverse_proxy 127.0.0.1:${service}\n}\n`,
    },
  }),
};
const installed = Object.keys(proxies).filter((name) => isInstalled(name.split(' ')[0] ?? ''));

/** A status, a product, a plan and a device of these records are as long as they can be. */
const word = (letter: string): string => letter.repeat(128);
const statuses = Array.from({ length: 16 }, (_, n) => '日'.repeat(63) + String.fromCodePoint(0x4e00 + n));
const [path, origin] = ['/connect-api/v1/subscription', 'https://reports.example.com'];
const own = { status: 'S'.repeat(42), 'product-id': word('p'), 'plan-id': word('l'), 'device-id': word('d') };
const rows = Array.from({ length: 7 }, (_, n) =>
  subscriptionRow({
    id: `${'i'.repeat(254)}${n}==`,
    status: own.status,
    ...{ productId: own['product-id'], planId: own['plan-id'], deviceId: own['device-id'] },
  }),
);

/** The longest value of each filter. */
const date = '2024-05-01T00:00:00.123456789+02:00';
const longest: Record<keyof typeof filterParameters, string> = {
  ...{ id: rows[0]?.id ?? '', iccid: '8'.repeat(22), email: `${'日'.repeat(242)}@example.com` },
  ...{ 'product-id': word('日'), 'device-id': word('日'), 'plan-id': word('日'), status: statuses.join() },
  ...{ before: date, after: date, 'created-from': date, 'created-to': date, 'date-field': 'activation' },
  ...{ 'auto-renew': 'false', 'expires-within': 'PT23H59M59S', sort: '-expirationDate' },
  zone: 'America/Argentina/ComodRivadavia',
};

/** Every second value of a thousand is unknown, which takes most characters. */
const thousand = (known: readonly string[], unknown: (n: number) => string): string[] =>
  Array.from({ length: 1_000 }, (_, n) => (n % 2 === 0 ? (known[(n / 2) % known.length] ?? '') : unknown(n)));
const lists = {
  id: thousand(
    rows.map(({ id }) => id),
    (n) => `x${n}`,
  ),
  iccid: thousand(['8944500102198304826'], (n) => `89445001${10_000_000 + n}`),
  'device-id': thousand([own['device-id']], (n) => `y${n}`),
};

/** A question: the query of a GET, or the body of a search. */
type Question = string | object;
const queryOf = (filters: object): string => String(new URLSearchParams({ ...filters, size: '2' }));
const fields = recordFields.map(({ name }) => name).join();
const since = `/changes?size=2&before=true&fields=${encodeURIComponent(fields)}`;
const walks: Record<string, Question> = {
  'the longest filters': `?${queryOf(own)}`,
  'three lists and long filters': { ...own, ...lists, status: [own.status, ...statuses.slice(1)], size: 2 },
  changes: `${since}&order=newest`,
};
const many = encodeURIComponent(statuses.slice(2).join());
const single: Record<string, Question> = {
  'one character more': `?${queryOf({ ...own, status: `${own.status}S` })}`,
  'every status of a search': { status: statuses, size: 2 },
  'no change of such statuses': `${since}&field=status&from=${encodeURIComponent(statuses[0] ?? '')}&to=${many.slice(0, 576)}`,
  'a whole report': `?all=true&format=csv&status=${many}`,
  'a whole search': { ...lists, status: statuses, all: true, format: 'ndjson' },
  'a summary': `/summary?status=${many}`,
  ...{ findings: '/findings', record: `/${longest.id}`, history: `/${longest.id}/history` },
  ...Object.fromEntries(
    Object.entries(longest).flatMap(([name, value]) => [
      // a URL of at most 8,192 characters: 14 statuses
      [`GET ${name}`, `?${queryOf({ [name]: value.slice(0, 14 * 65 - 1) })}`],
      [`POST ${name}`, { [name]: value }],
    ]),
  ),
};

describe('the headers of a response', () => {
  let service: TestService;
  let management: string;
  let client: TestClient;
  let headers: Record<string, string>;
  let ports: Record<string, string>;
  const running: { stop(): Promise<void> }[] = [];
  const sizes: number[] = [];

  beforeAll(async () => {
    management = `http://127.0.0.1:${await freePort()}`;
    const settings = { PUBLIC_URL: origin, RATE_LIMIT_PER_MINUTE: '100000', MANAGEMENT_PORT: new URL(management).port };
    service = await startService(await engines[0].openTestStore(), settings);
    const tenant = await service.createTenant('acme');
    await service.store.loadSubscriptions(tenant, rows);
    client = await service.createClient(tenant);
    const token = await service.accessToken(client);
    headers = {
      authorization: `Bearer ${token}`,
      'x-correlation-id': 'c'.repeat(256),
      'content-type': 'application/json',
    };
    ports = await startProxies(service.url);
  });
  afterAll(async () => {
    await Promise.all(running.map((proxy) => proxy.stop()));
    await service.close();
  });

  /** Starts each proxy before a listener; returns their URLs. */
  async function startProxies(target: string): Promise<Record<string, string>> {
    const urls: Record<string, string> = {};
    for (const name of installed) {
      const port = String(await freePort());
      const program = proxies[name]?.(port, new URL(target).port) ?? { command: [], files: {} };
      running.push(await startProxy(port, program));
      urls[name] = `http://127.0.0.1:${port}`;
    }
    return urls;
  }

  /** Sends a request; a response of the service itself has at most 3 kB of headers. */
  async function ask(base: string, target: string, init: RequestInit = {}) {
    const response = await fetch(base + target, { ...init, headers: { ...headers, ...init.headers } });
    const text = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    if (base === service.url || base === management) sizes.push(text.length + 'HTTP/1.1 200 OK\r\n\r\n'.length);
    const body = await response.text();
    expect([base, target, response.headers.get('content-type') ?? '']).not.toContainEqual(
      expect.stringMatching(/html/),
    );
    return { status: response.status, headers: response.headers, body };
  }
  const askOne = (base: string, question: Question, method?: string) =>
    typeof question === 'string'
      ? ask(base, path + question, method === undefined ? {} : { method })
      : ask(base, `${path}/search`, { method: 'POST', body: JSON.stringify(question) });

  /** The pages 1 to 3 and back to 1; changes have links to the following page only. */
  async function walk(base: string, question: Question): Promise<string[]> {
    const pages: string[] = [];
    let here = question;
    for (const direction of ['next', 'next', 'previous', 'previous', '']) {
      const page = await askOne(base, here);
      pages.push(`${page.status} ${page.body}`);
      const link = page.headers.get(`x-${direction}-page`);
      const cursor = page.headers.get(`x-${direction}-cursor`);
      if (link === null && cursor === null) break;
      here = link === null ? { ...Object(here), cursor } : link.slice(origin.length + path.length);
    }
    return pages;
  }

  test.each(Object.entries(walks))('of %s pass every proxy, on pages 1 to 3 and back', async (name, question) => {
    const direct = await walk(service.url, question);
    expect(direct.map((page) => page.slice(0, 4))).toEqual(Array(name === 'changes' ? 3 : 5).fill('200 '));
    if (name !== 'changes') expect(direct.slice(3)).toEqual([direct[1], direct[0]]);
    for (const [proxy, base] of Object.entries(ports))
      expect([proxy, await walk(base, question)]).toEqual([proxy, direct]);
  });

  test('of the longest questions pass every proxy, which are rejected on every page or on none', async () => {
    const tooLong: string[] = [];
    for (const [name, question] of Object.entries(single)) {
      const direct = await askOne(service.url, question);
      if (direct.status === 414) {
        tooLong.push(name);
        expect(direct.body).toMatch(/must have at most \d+ characters in a URL, |URL must have at most 8192/);
      } else expect([name, direct.status]).toEqual([name, 200]);
      for (const [proxy, base] of Object.entries(ports)) {
        // Varnish cannot read trailers: docs/operators/operating.md
        if (proxy === 'varnishd' && name.startsWith('a whole')) continue;
        const through = await askOne(base, question);
        const masked = through.body.replace(/"next":"[^"]*"/, '');
        expect([name, proxy, through.status, masked]).toEqual([
          name,
          proxy,
          direct.status,
          direct.body.replace(/"next":"[^"]*"/, ''),
        ]);
        if (typeof question === 'string') expect((await askOne(base, question, 'HEAD')).status).toBe(direct.status);
      }
    }
    const long = ['email', 'product-id', 'status', 'device-id', 'plan-id'].map((name) => `GET ${name}`);
    expect(tooLong.toSorted()).toEqual([...long, 'no change of such statuses', 'one character more'].toSorted());
  });

  test('of the sessions of both consoles pass every proxy, with the longest filters', async () => {
    const begin = async (base: string, own: string, body: object) => {
      const send = {
        method: 'POST',
        headers: { origin: own, 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify(body),
      };
      const begun = await ask(base, '/console/session', send);
      expect(begun.status).toBe(201);
      return { cookie: begun.headers.get('set-cookie')?.split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' };
    };
    for (const base of [service.url, ...Object.values(ports)]) {
      const cookie = await begin(base, origin, client);
      const asked = await ask(base, `/console${path}${walks['the longest filters']}`, { headers: cookie });
      expect([asked.status, asked.headers.has('x-next-page')]).toEqual([200, true]);
    }
    const operator = generateOperatorToken();
    const row = { id: 'op-1', name: 'test', scopes: ['operator:read'], createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(operator));
    for (const base of [management, ...Object.values(await startProxies(management))]) {
      const cookie = await begin(base, base, { token: operator });
      for (const target of ['/console/session', '/console/operator/v1/tenants'])
        expect([base, target, (await ask(base, target, { headers: cookie })).status]).toEqual([base, target, 200]);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3_072);
  });
});
