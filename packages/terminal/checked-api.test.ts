import { expect, test } from 'vitest';
import { createClientWith } from '../client/client.ts';
import { systemClock } from '../client/clock.ts';
import type { SubreportClient } from '../client/index.ts';
import { CheckedApi } from './checked-api.ts';

/** The operations that read a JSON body. */
const operations = {
  subscriptions: (client) => client.subscriptions().first(),
  search: (client) => client.search({ status: 'ACTIVE' }).first(),
  subscription: (client) => client.subscription('abc'),
  history: (client) => client.history('abc'),
  summary: (client) => client.summary(),
  findings: (client) => client.findings(),
  changes: (client) => client.changes().next(),
  changesSummary: (client) => client.changesSummary('2026-01-01T00:00:00Z'),
} satisfies Partial<Record<keyof SubreportClient, (client: SubreportClient) => Promise<unknown>>>;

/** The others read no JSON of the API, or only that of these. */
const others = ['export', 'follow', 'token', 'revoke'];

const token = { access_token: 'a.b.c', token_type: 'Bearer', expires_in: 300 };

function clientOf(body: unknown): SubreportClient {
  const send: typeof fetch = async (input) => {
    const response = Response.json(String(input).endsWith('/token') ? token : body);
    return Object.defineProperty(response, 'url', { value: String(input) });
  };
  const urls = { baseUrl: 'https://example.com/connect-api', tokenUrl: 'https://example.com/token' };
  return createClientWith({ ...urls, clientId: 'a', clientSecret: 'b', fetch: send }, systemClock, CheckedApi);
}

test('every operation of the client is tried', () => {
  expect(Object.keys(clientOf(null)).sort()).toEqual([...Object.keys(operations), ...others].sort());
});

test.each(Object.entries(operations))('%s rejects a response of another shape in one sentence', async (_name, call) => {
  for (const body of [null, 7, 'text', {}, [null], [{}], [[]], { total: '7', by: [] }, { id: 'abc', versions: {} }])
    await expect(call(clientOf(body)), JSON.stringify(body)).rejects.toThrow(
      /^Cannot use the response of \/connect-api\/v1\/\S+: it must be of the API: its body\S* must be [a-z ]+$/,
    );
});
