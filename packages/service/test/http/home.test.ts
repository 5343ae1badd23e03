import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

let service: TestService;
let management: string;

beforeAll(async () => {
  const port = String(await freePort());
  management = `http://127.0.0.1:${port}`;
  const settings = { CONSOLE: 'false', MANAGEMENT_PORT: port };
  service = await startService(await engines[0].openTestStore(), settings);
});
afterAll(() => service.close());

test('/ leads to the API reference if CONSOLE=false', async () => {
  for (const listener of [service.url, management]) {
    const { status, headers } = await fetch(listener, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, './docs']);
  }
});

test('the API reference and its document are compressed for clients that accept it', async () => {
  for (const url of [`${service.url}/docs`, `${service.url}/openapi.json`, `${management}/docs`]) {
    const get = async (coding: string) => {
      const response = await fetch(url, { headers: { 'accept-encoding': coding } });
      const { headers } = response;
      return { coding: headers.get('content-encoding'), vary: headers.get('vary'), text: await response.text() };
    };
    const plain = await get('identity');
    expect(plain.coding).toBeNull();
    for (const coding of ['gzip', 'br', 'br']) expect(await get(coding)).toEqual({ ...plain, coding });
  }
});
