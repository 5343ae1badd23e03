import { closeSync, openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableClientById } from '../../src/auth/manage-clients.ts';
import { engines } from '../support/engines.ts';
import { expectProblem } from '../support/expect-error.ts';
import { startService, type TestService } from '../support/service.ts';

describe.each(engines)('refusals on $engine', ({ openTestStore }) => {
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
    await disableClientById(service.store, Math.floor(Date.now() / 1000), disabled.client_id);
    const tokens = { nobody: 'made-up', writer: await service.accessToken(writer), disabled: token };
    for (const [id, each] of Object.entries(tokens))
      await service.get('/v1/subscription', each, { 'x-correlation-id': id });
    const address = '127.0.0.1';
    await lineOf('nobody').toMatchObject({ status: 401, address, client_id: null });
    await lineOf('writer').toMatchObject({ status: 403, address, client_id: writer.client_id });
    await lineOf('disabled').toMatchObject({ status: 401, address, client_id: disabled.client_id });
  });

  test.runIf(process.platform === 'linux')(
    'an export beyond the limit of open files is a 503, and one after it succeeds (O9)',
    async () => {
      const token = await service.accessToken(await service.createClient(await service.createTenant('globex')));
      const read = () =>
        service.get('/v1/subscription?all=true&format=ndjson', token, { 'x-correlation-id': 'many-files' });
      expect((await read()).status).toBe(200); // the connection is open, and stays so
      const restore = exhaustDescriptors();
      try {
        const problem = await expectProblem(await read(), 'UNAVAILABLE');
        expect(problem.messages[0]).toMatch(/^Cannot answer now: /);
      } finally {
        restore();
      }
      expect(JSON.stringify(service.log)).toContain('this process must be allowed to open more files');
      expect((await read()).status).toBe(200);
    },
  );
});

/** Opens files until no more can be; gives the function that closes them. */
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
