import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { finishExport, openExport } from '../../../../test/support/read-export.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const drawn = drawOne(engines, import.meta.url);

/** Long records instead of many, which take longer to load: 16 MB, more than buffers hold. */
const recordBytes = 3_200;
const rows = Array.from({ length: 5_000 }, (_, index) =>
  subscriptionRow({
    id: `id-${index}`,
    createdDate: index,
    record: `{"id":"id-${index}","filler":"${'x'.repeat(recordBytes)}"}`,
  }),
);

describe.each(drawn)('whole reports at once, on $engine', ({ openTestStore }) => {
  let service: TestService;
  /** The same with a least rate that no reader reaches. */
  let demanding: TestService;
  let tokens: readonly string[];
  let tokenOfOther: string;
  let demandingToken: string;
  const path = '/v1/subscription?all=true&format=ndjson';
  const begin = (token: string, of = service, more = ''): Promise<IncomingMessage> =>
    openExport(`${of.baseUrl}${path}${more}`, token);
  const ended = (): Record<string, unknown>[] => service.log.filter(({ msg }) => msg === 'export');

  beforeAll(async () => {
    const opened = await openTestStore();
    service = await startService(opened, { EXPORTS_MAX: '4' }, { exportStallSeconds: 3_600 });
    demanding = await startService(
      { ...opened, close: async () => undefined },
      {},
      { exportStallSeconds: 3, exportRateMinKib: 1_000_000 },
    );
    const [acme, globex] = [await service.createTenant('acme'), await service.createTenant('globex')];
    for (let start = 0; start < rows.length; start += 1_250)
      await service.store.loadSubscriptions(acme, rows.slice(start, start + 1_250));
    await service.store.loadSubscriptions(globex, [subscriptionRow({ id: 'theirs' })]);
    const clients = [await service.createClient(acme), await service.createClient(acme)];
    tokens = await Promise.all(clients.map((client) => service.accessToken(client)));
    demandingToken = await demanding.accessToken(await service.createClient(acme));
    tokenOfOther = await service.accessToken(await service.createClient(globex));
  });
  afterAll(async () => {
    await demanding.close();
    await service.close();
  });

  test('exports of one tenant, also of the past, leave a slot to another tenant', async () => {
    const [one = '', two = ''] = tokens;
    const open = [await begin(one), await begin(one, service, '&as-of=2'), await begin(two)];
    expect(open.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    const fourth = await service.get(path, two);
    expect(fourth.headers.get('retry-after')).toBe('10');
    expect((await expectProblem(fourth, 'TOO_MANY_REQUESTS')).messages[0]).toContain('all clients of a tenant');
    expect((await finishExport(await begin(tokenOfOther))).trailers['x-export-rows']).toBe('1');
    for (const response of open) response.destroy();
    await eventually(() => expect(ended()).toHaveLength(4));
  });

  test('an export whose client reads more slowly than the minimum rate is aborted', async () => {
    const response = await begin(demandingToken, demanding);
    const aborted = once(response, 'error');
    response.on('readable', () => undefined); // nothing is read but what is asked for below
    let bytes = 0;
    const stop = Promise.race([aborted, once(response, 'end')]).then(() => true);
    while (!(await Promise.race([stop, sleep(250, false)])))
      bytes += (response.read(524_288) as Buffer | null)?.length ?? 0;
    expect(bytes).toBeLessThan(rows.length * recordBytes);
    expect(response.complete).toBe(false);
    expect(demanding.logText()).toContain('the client must read 1024000000 bytes per second');
  });

  test('hundreds of concurrent exports each get a report or 429', async () => {
    const [one = ''] = tokens;
    const asked = Array.from({ length: 300 }, async () => {
      const response = await begin(one);
      if (response.statusCode === 200) await finishExport(response);
      else response.resume();
      return response.statusCode;
    });
    expect((await (await fetch(`${service.url}/healthz`)).json()).status).toBe('ok');
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200, 429]));
  });
});
