import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines } from '../../../test/support/engines.ts';
import { subscriptionRow } from '../../../test/support/rows.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { operations } from '../operations.ts';
import { reportFormats } from '../report.ts';

interface Contract {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content?: object }> }>>;
}

const contract = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as Contract;
const typeOf = (contentType: string): string => contentType.replace(/;.*/, '');
// Parquet is for whole reports only
const { parquet: _, ...formats } = reportFormats;
const types = [...Object.values(formats).map(({ contentType }) => typeOf(contentType)), 'text/html'];

let service: TestService;
let token: string;
let since: string;
beforeAll(async () => {
  service = await startService(await engines[0].openTestStore());
  const tenant = await service.createTenant('acme');
  await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'one' })]);
  token = await service.accessToken(await service.createClient(tenant));
  ({ next: since } = await (await service.get('/v1/subscription/changes', token)).json());
});
afterAll(() => service.close());

const reported = Object.entries(operations).filter(([, { tag }]) => tag === 'report');
test.each(reported)(
  '%s sends the media types of the contract, and 406 for any other',
  async (name, { method, path }) => {
    const offered = Object.keys(contract.paths[path]?.[method.toLowerCase()]?.responses['200']?.content ?? {});
    expect(offered).toContain('application/json');
    const query = name === 'getChangesSummary' ? `?since=${since}` : '';
    for (const accept of types) {
      const { status, headers } = await fetch(service.url + path.replace('{id}', 'one') + query, {
        method,
        headers: { accept, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{}' }),
      });
      const expected = offered.includes(accept) ? [200, accept] : [406, 'application/problem+json'];
      expect([status, typeOf(headers.get('content-type') ?? '')], accept).toEqual(expected);
    }
  },
);
