import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { SqliteConnection } from '../../storage/sqlite/connection.ts';
import { disableClient } from '../../storage/tables/client-changes.ts';

const drawn = drawOne(engines, import.meta.url);

const remedy = 'this process must be allowed to open more files';

describe.each(drawn)('refusals on $engine', ({ openTestStore }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await openTestStore());
  });
  afterAll(() => service.close());

  const lineOf = (correlation_id: string) =>
    expect.poll(() => service.log.find((line) => line.msg === 'request' && line.correlation_id === correlation_id));

  test('the log line of a 401 or 403 names the address, and the client where its token tells (16.3.2)', async () => {
    const tenant = await service.createTenant('acme');
    const writer = await service.createClient(tenant, { scopes: ['subscription:write'] });
    const disabled = await service.createClient(tenant);
    const token = await service.accessToken(disabled);
    await disableClient(service.store, disabled.client_id, Math.floor(Date.now() / 1000));
    const tokens = { nobody: 'made-up', writer: await service.accessToken(writer), disabled: token };
    for (const [id, each] of Object.entries(tokens))
      await service.get('/v1/subscription', each, { 'x-correlation-id': id });
    const address = '127.0.0.1';
    await lineOf('nobody').toMatchObject({ status: 401, address, client_id: null });
    await lineOf('writer').toMatchObject({ status: 403, address, client_id: writer.client_id });
    await lineOf('disabled').toMatchObject({ status: 401, address, client_id: disabled.client_id });
  });

  test.runIf(process.platform === 'linux')(
    'exports beyond the limit of open files get 503, and a later export succeeds',
    async () => {
      const token = await service.accessToken(await service.createClient(await service.createTenant('globex')));
      const read = () => service.get('/v1/subscription?all=true&format=ndjson', token);
      expect((await read()).status).toBe(200); // the connection is open, and stays so
      const restores: (() => void)[] = [];
      const readWithoutFiles = async () => {
        // the previous export may have closed its connection since
        restores.push(exhaustDescriptors());
        return read();
      };
      let response = await readWithoutFiles();
      try {
        if (service.store.engine === 'postgres')
          await expect
            .poll(async () => {
              response = await readWithoutFiles();
              return response.status;
            })
            .toBe(503);
        // SQLite reuses an open reader
        if (response.status !== 200)
          expect((await expectProblem(response, 'UNAVAILABLE')).detail).toContain(
            'the service must be allowed to open more files',
          );
      } finally {
        for (const restore of restores) restore();
      }
      if (service.store.engine === 'postgres') expect(service.logText()).toContain(remedy);
      expect((await read()).status).toBe(200);
    },
  );
});

test.runIf(process.platform === 'linux')(
  'a database file that cannot be opened because file descriptors are used up is reported as such',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-files-'));
    const file = join(folder, 'subreport.db');
    new SqliteConnection(file, 100).close();
    const restore = exhaustDescriptors();
    try {
      expect(() => new SqliteConnection(file, 100)).toThrow(remedy);
    } finally {
      restore();
      rmSync(folder, { recursive: true });
    }
  },
);

/** Opens files until the limit is reached; returns the function that closes them. */
function exhaustDescriptors(): () => void {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'));
  } catch {
    return () => {
      for (const each of opened) closeSync(each);
    };
  }
}
