import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servicesOnEngines, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { editClient } from '../../auth/clients/edit-client.ts';
import { type SyntheticRow, syntheticRows } from '../../import/synthetic-rows.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import type { TenantId } from '../../storage/store.ts';

const rows = [...syntheticRows({ count: 2_500, seed: 12, until: 1_767_225_600 })];
const ndjson = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

describe.each(servicesOnEngines)(
  'loading records over HTTP, on $engine with $service',
  ({ openTestStore, start, processes }) => {
    let service: TestService;
    let management: string;
    let tenants = 0;
    let tenant: TenantId;
    let token: string;
    const pathOf = (name: string): string => `/operator/v1/tenants/${name}/subscriptions`;
    const put = (body: string | Buffer, query = '', headers: Record<string, string> = {}, name: string = tenant) =>
      fetch(`${management}${pathOf(name)}${query}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', ...headers },
        body: new Uint8Array(Buffer.from(body)),
      });
    const stateOf = () =>
      service.store.readTenant(tenant, async (reader) => {
        const stored = await reader.all('select id from subscription where tenant_id = $1 order by id');
        return { ids: stored.map(({ id }) => id), problems: (await checkCounts(reader)).problems };
      });
    const idsOf = (values: readonly SyntheticRow[]) => values.map(({ id }) => id).toSorted();
    /** Creates a tenant with a client that may write. */
    const begin = async (): Promise<void> => {
      tenants += 1;
      tenant = await service.createTenant(`tenant-${tenants}`);
      token = await service.accessToken(await service.createClient(tenant, { scopes: ['subscription:write'] }));
    };

    // With several processes, only what depends on their number: who responds, who holds a lock.
    beforeAll(async () => {
      const port = await freePort();
      management = `http://127.0.0.1:${port}`;
      service = await start(await openTestStore(), { MANAGEMENT_PORT: String(port), SPOOL_MAX_MIB: '1' });
    });
    afterAll(() => service.close());

    test('a load returns its summary, and loading the same body again changes nothing', async () => {
      await begin();
      const text = `${ndjson(rows)}{"id":"x"}\n`;
      const first = await put(text, '', { 'x-correlation-id': 'load-1' });
      expect([first.status, first.headers.get('x-correlation-id')]).toEqual([200, 'load-1']);
      const counts = { read: 2_501, accepted: 2_500, rejected: 1 };
      const body = await first.json();
      expect(body).toMatchObject({ tenant, dry_run: false, ...counts, inserted: 2_500, correlation_id: 'load-1' });
      expect(body.errors).toEqual([{ line: 2_501, errors: expect.any(Array) }]);
      expect(await stateOf()).toEqual({ ids: idsOf(rows), problems: [] });
      expect(await (await put(text)).json()).toMatchObject({ ...counts, inserted: 0, unchanged: 2_500 });
    });

    test.runIf(processes === 1)('a load accepts gzip and zstd, and no other coding or media type', async () => {
      await begin();
      const gzip = await put(gzipSync(ndjson(rows.slice(0, 5))), '', { 'content-encoding': 'gzip' });
      expect(await gzip.json()).toMatchObject({ inserted: 5 });
      const zstd = await put(zstdCompressSync(Buffer.from(ndjson(rows.slice(0, 6)))), '', {
        'content-encoding': 'zstd',
      });
      expect(await zstd.json()).toMatchObject({ inserted: 1, unchanged: 5 });
      for (const headers of [{ 'content-encoding': 'br' }, { 'content-type': 'application/json' }])
        expect((await put('{}', '', headers)).status).toBe(415);
      expect((await put(gzipSync(ndjson(rows)).subarray(0, -100), '', { 'content-encoding': 'gzip' })).status).toBe(
        400,
      );
      const params = { [constants.ZSTD_c_windowLog]: 24 };
      const wide = await put(zstdCompressSync(Buffer.alloc(2 ** 24 + 1, '\n'), { params }), '', {
        'content-encoding': 'zstd',
      });
      expect([wide.status, (await wide.json()).messages[0]]).toEqual([400, expect.stringContaining('8388608 bytes')]);
    });

    test('replace=true replaces all records at once, rejects an invalid body or one that removes all, and only counts in a dry run', async () => {
      await begin();
      await put(ndjson(rows.slice(0, 100)));
      const replacement = ndjson(rows.slice(50, 120));
      const counts = { inserted: 20, unchanged: 50, removed: 50 };
      expect(await (await put(replacement, '?replace=true&dry-run=true')).json()).toMatchObject({
        dry_run: true,
        ...counts,
      });
      expect((await stateOf()).ids).toHaveLength(100);
      const refused = await put(`${replacement}{}\n`, '?replace=true');
      expect([refused.status, await refused.json()]).toMatchObject([400, { type: 'INVALID_HTTP_MESSAGE' }]);
      expect((await stateOf()).ids).toHaveLength(100);
      expect(await (await put(replacement, '?replace=true')).json()).toMatchObject(counts);
      expect(await stateOf()).toEqual({ ids: idsOf(rows.slice(50, 120)), problems: [] });
      for (const query of ['?replace=true', '?replace=true&remove=69']) {
        const unconfirmed = await put('', query);
        const { type, messages } = (await unconfirmed.json()) as { type: string; messages: string[] };
        expect([unconfirmed.status, type]).toEqual([409, 'CONFLICT']);
        expect(messages[0]).toMatch(/70 of 70 must be confirmed.*remove=70 over HTTP/);
      }
      expect(await (await put('', '?replace=true&remove=70')).json()).toMatchObject({ removed: 70 });
    });

    test.runIf(processes === 1)('strict=true loads all rows or none', async () => {
      await begin();
      const refused = await put(`${ndjson(rows.slice(0, 5))}{}\n`, '?strict=true');
      const { messages } = (await refused.json()) as { messages: string[] };
      expect([refused.status, messages[0]]).toEqual([400, expect.stringContaining('nothing was loaded')]);
      expect(messages[1]).toContain('line 6: ');
      expect((await stateOf()).ids).toEqual([]);
      expect(await (await put(ndjson(rows.slice(0, 5)), '?strict=true')).json()).toMatchObject({ inserted: 5 });
    });

    test
      .runIf(processes === 1)
      .each([
        '?replaces=true',
        '?replace=1',
        '?replace=true&replace=true',
        '?remove=1',
        '?replace=true&remove=x',
        '?dry-run',
      ])('a load with %s gets a 400 that names the parameter', async (query) => {
      await begin();
      const response = await put('', query);
      const { type, errors } = (await response.json()) as { type: string; errors: { parameter: string }[] };
      expect([response.status, type]).toEqual([400, 'INVALID_REQUEST_PARAMS']);
      expect(query).toContain(errors[0]?.parameter);
    });

    test('a load needs the scope and a client of the tenant; another tenant gets the same response as an unknown one', async () => {
      await begin();
      const reader = await service.accessToken(await service.createClient(tenant));
      expect((await put('', '', { authorization: `Bearer ${reader}` })).status).toBe(403);
      expect((await put('', '', { authorization: '' })).status).toBe(401);
      await service.createTenant(`other-${tenants}`);
      const problems = await Promise.all(
        [`other-${tenants}`, 'nobody'].map(async (name) => {
          const response = await put(ndjson(rows.slice(0, 1)), '', { 'x-correlation-id': 'same' }, name);
          return [response.status, await response.json()];
        }),
      );
      expect(problems[0]?.[0]).toBe(404);
      expect(problems[0]).toEqual(problems[1]);
      expect((await service.get('/v1/subscription', token)).status).toBe(403);
    });

    test.runIf(processes === 1)(
      'a load rejects an access token without the scope subscription:write, although its client has that scope',
      async () => {
        await begin();
        const scopes = ['subscription:read', 'subscription:write'] as const;
        const client = await service.createClient(tenant, { scopes });
        const narrow = { grant_type: 'client_credentials', scope: 'subscription:read', ...client };
        const { access_token } = (await (await service.postToken(narrow)).json()) as { access_token: string };
        const response = await put(ndjson(rows.slice(0, 1)), '', { authorization: `Bearer ${access_token}` });
        expect(response.status).toBe(403);
        expect((await stateOf()).ids).toEqual([]);
      },
    );

    test.runIf(processes === 1)(
      'a part of a file is rejected, so that it replaces nothing (RFC 9110 §14.5)',
      async () => {
        await begin();
        expect((await put(ndjson(rows.slice(0, 3)))).status).toBe(200);
        const { ids } = await stateOf();
        const part = await put(ndjson(rows.slice(1, 2)), '?replace=true', { 'content-range': 'bytes 450-899/1350' });
        expect([part.status, await part.json()]).toMatchObject([
          400,
          { detail: expect.stringContaining('content-range') },
        ]);
        expect((await stateOf()).ids).toEqual(ids);
      },
    );

    test('is on the management listener alone, which also tells of health and nothing else', async () => {
      await begin();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
      expect((await fetch(service.url + pathOf(tenant), { method: 'PUT', headers, body: '' })).status).toBe(404);
      for (const path of ['/healthz', '/readyz']) expect((await fetch(management + path)).status).toBe(200);
      for (const path of ['/connect-api/v1/subscription', '/oauth2/token'])
        expect((await fetch(management + path)).status).toBe(404);
      const wrong = await fetch(management + pathOf(tenant));
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'OPTIONS, PUT']);
    });

    const loadsInProgress = async (): Promise<number> => {
      const metrics = await (await fetch(`${management}/metrics`)).text();
      return Number(/^subreport_loads_in_progress (\d+)$/m.exec(metrics)?.[1]);
    };

    /** Starts a load, sends some records and leaves the body open; resolves once it is running. */
    const beginLoad = async (query: string) => {
      const before = await loadsInProgress();
      const sending = httpRequest(`${management}${pathOf(tenant)}${query}`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-ndjson',
          expect: '100-continue', // the response 100 shows that the service handles the request
        },
      });
      sending.on('error', () => undefined);
      sending.flushHeaders();
      await once(sending, 'continue');
      sending.write(ndjson(rows));
      await expect.poll(loadsInProgress).toBe(before + 1);
      return sending;
    };

    /** Whether a load is stored as running: it has the lock then, which a probe could take. */
    const isLocked = async (): Promise<boolean> => {
      const running = "select id from import_history where tenant_id = $1 and result = 'running'";
      return (await service.store.readDirectory(running, [tenant])).length > 0;
    };

    test.each(['', '?strict=true', '?replace=true'])(
      'a second load into the same tenant gets 503 with Retry-After as soon as the first has begun: %s',
      async (query) => {
        await begin();
        const sending = await beginLoad(query);
        await expect.poll(isLocked).toBe(true);
        for (const other of ['', '?strict=true', '?replace=true']) {
          const second = await put(ndjson(rows.slice(0, 1)), other);
          expect([second.status, second.headers.get('retry-after')]).toEqual([503, '10']);
        }
        expect((await stateOf()).ids).toEqual([]);
        sending.end();
        const [response] = (await once(sending, 'response')) as [{ statusCode: number }];
        expect(response.statusCode).toBe(200);
        expect(await (await put(ndjson(rows.slice(0, 1)))).json()).toMatchObject({ unchanged: 1 });
      },
    );

    test.runIf(processes === 1)(
      'a body that is not spooled is refused before its rest if its first rows have no known form',
      async () => {
        await begin();
        for (const query of ['?strict=true', '?replace=true', '?dry-run=true'])
          for (const [type, first, cause] of [
            ['text/csv', 'id,iccid,email\r\n1,2,3\r\n', 'createdDate'],
            ['application/x-ndjson', '[\n{"id":"0123456789"}\n', 'jq -c'],
            ['application/x-ndjson', '{}\n'.repeat(10_001), 'past line 10001'],
          ] as const) {
            const sending = httpRequest(`${management}${pathOf(tenant)}${query}`, {
              method: 'PUT',
              headers: { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': 900_000 },
            });
            sending.on('error', () => undefined);
            sending.write(first);
            const [response] = (await once(sending, 'response')) as [IncomingMessage];
            const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
            expect([response.statusCode, text]).toEqual([400, expect.stringContaining(cause)]);
            sending.destroy();
          }
      },
    );

    test.runIf(processes === 1)(
      'a client whose load is rejected early can send the rest, read the response and reuse the connection',
      async () => {
        await begin();
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const ask = async (body: string, query = '') => {
          const sending = httpRequest(`${management}${pathOf(tenant)}${query}`, {
            method: 'PUT',
            agent,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
          });
          const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
          sending.end(body);
          await once(sending, 'finish'); // all of it was taken
          const [response] = await answered;
          const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
          return { status: response.statusCode, text, reused: sending.reusedSocket };
        };
        const body = `[\n${ndjson(rows).repeat(20)}`;
        const [unknown, large] = [await ask(body, '?replace=true'), await ask(body)];
        expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('jq -c')]);
        expect([large.status, large.text]).toEqual([413, expect.stringContaining('SPOOL_MAX_MIB')]);
        expect(await ask(ndjson(rows.slice(0, 3)))).toMatchObject({ status: 200, reused: true });
        agent.destroy();
      },
    );

    test.runIf(processes === 1)('a load ends at the 10,001st rejected row and reads no row after it', async () => {
      await begin();
      const bomb = gzipSync(`${ndjson(rows.slice(0, 3))}${'{}\n'.repeat(200_000)}`);
      for (const query of ['', '?strict=true', '?replace=true', '?dry-run=true']) {
        const refused = await put(bomb, query, { 'content-encoding': 'gzip' });
        const { messages } = (await refused.json()) as { messages: string[] };
        expect([refused.status, messages[0]]).toEqual([400, expect.stringContaining('past line 10004')]);
        expect(messages[1]).toContain('line 4: ');
      }
      expect((await stateOf()).problems).toEqual([]);
    });

    test.runIf(processes === 1)(
      'a load during another load is rejected before its body is received, and leaves no file',
      async () => {
        await begin();
        const lock = await service.store.lockImport(tenant);
        for (const query of ['', '?strict=true'])
          for (let n = 0; n < 2; n += 1) expect((await put(ndjson(rows), query)).status).toBe(503);
        await lock?.release();
        for (const body of ['[1]\n', `${ndjson(rows.slice(0, 2))}{}\n`, gzipSync('x'.repeat(99)).subarray(0, -9)])
          expect((await put(body, '?strict=true')).status).toBe(400);
        expect(await (await put(ndjson(rows.slice(0, 3)), '?strict=true')).json()).toMatchObject({ inserted: 3 });
        if (process.platform !== 'linux') return;
        const open = readdirSync('/proc/self/fd').flatMap((name) => {
          try {
            return [readlinkSync(`/proc/self/fd/${name}`)];
          } catch {
            return []; // the one that lists them
          }
        });
        expect(open.filter((file) => file.includes('/spool/'))).toEqual([]);
      },
    );

    test.runIf(processes === 1)('a load of more than SPOOL_MAX_MIB gets 413 and loads nothing', async () => {
      await begin();
      const refused = await put(ndjson([...rows, ...rows]));
      expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('SPOOL_MAX_MIB')]);
      const sending = await beginLoad(''); // its size is unknown
      sending.end(ndjson(rows));
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(413);
      response.resume();
      expect((await stateOf()).ids).toEqual([]);
      expect(await (await put(ndjson(rows))).json()).toMatchObject({ inserted: 2_500 });
    });

    test.runIf(processes === 1)('two loads of a client at once are the most', async () => {
      await begin();
      const loads = [await beginLoad('?dry-run=true'), await beginLoad('?dry-run=true')];
      const third = await put('', '?dry-run=true');
      expect([third.status, third.headers.get('retry-after')]).toEqual([429, '10']);
      for (const each of loads) each.end();
      await Promise.all(loads.map((each) => once(each, 'response')));
      expect((await put('', '?dry-run=true')).status).toBe(200);
    });

    test('loads count towards the rate limit of their client', async () => {
      await begin();
      const scopes = ['subscription:write'] as const;
      const limited = await service.createClient(tenant, { scopes });
      await editClient(service.store, 0, limited.client_id, { rateLimit: 2 });
      const authorization = `Bearer ${await service.accessToken(limited)}`;
      const statuses: number[] = [];
      for (let n = 0; n < 3; n += 1) statuses.push((await put('', '', { authorization })).status);
      expect(statuses).toEqual([200, 200, 429]);
      expect((await put('')).status).toBe(200);
    });

    test('a load whose client disconnects changes nothing, and leaves no lock', async () => {
      await begin();
      const untilFree = async (): Promise<void> => {
        for (let lock = await service.store.lockImport(tenant); ; lock = await service.store.lockImport(tenant)) {
          if (lock !== undefined) return lock.release();
          await sleep(20);
        }
      };
      for (const query of ['', '?strict=true', '?replace=true']) {
        (await beginLoad(query)).destroy();
        await expect.poll(loadsInProgress).toBe(0); // it may still take the lock
        await untilFree();
        expect(await stateOf()).toEqual({ ids: [], problems: [] });
      }
      expect(await (await put(ndjson(rows))).json()).toMatchObject({ read: 2_500 });
      expect(await stateOf()).toEqual({ ids: idsOf(rows), problems: [] });
    });
  },
);
