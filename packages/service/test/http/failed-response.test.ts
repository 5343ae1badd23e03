import fastify from 'fastify';
import { expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService } from '../../../../test/support/service.ts';
import { sendError } from '../../http/listener/send-error.ts';
import { eraseRecords } from '../../import/erase-records.ts';
import { StorageError } from '../../storage/error.ts';

// The headers of a whole report are set before its records are read, and reading may fail.
test('a report that fails before its first byte keeps no header that describes it', async () => {
  const service = await startService(await engines[0].openTestStore());
  const tenant = await service.createTenant('acme');
  await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' }), subscriptionRow({ id: 'b' })]);
  const token = await service.accessToken(await service.createClient(tenant));
  const revision = (await service.get('/v1/subscription/summary', token)).headers.get('x-revision');
  await eraseRecords(service.store, tenant, () => new Set(['b']));
  const report = await fetch(`${service.baseUrl}/v1/subscription/search`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', prefer: 'export-summary' },
    body: JSON.stringify({ all: true, format: 'csv', 'as-of': revision, status: 'ACTVE', id: ['none'] }),
  });
  await report.arrayBuffer();
  const described = [
    'x-explanation',
    'x-not-found',
    'x-erased-count',
    'x-revision',
    'preference-applied',
    'content-disposition',
  ];
  expect(described.filter((name) => !report.headers.has(name))).toEqual([]);
  const refused = await service.get('/v1/subscription?size=0', token);
  const app = fastify();
  app.setErrorHandler(sendError);
  app.get('/', async (_request, reply) => {
    for (const [name, value] of report.headers) reply.header(name, value);
    throw new StorageError('UNAVAILABLE', 'Cannot read');
  });
  const { headers } = await app.inject('/');
  const known = new Set([...refused.headers.keys(), 'retry-after', 'transfer-encoding', 'vary']);
  expect(Object.keys(headers).filter((name) => !known.has(name))).toEqual([]);
  await app.close();
  await service.close();
});
