import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { Store, TenantId } from '../../storage/store.ts';

// A read ends with the connection of its client, so that no other read waits for a page that was
// left. The store is a real one, whose reads of the tenant wait for a gate.

/** Paths that read a tenant's records. */
const paths = [
  '/v1/subscription',
  '/v1/subscription?all=true&format=ndjson',
  '/v1/subscription/summary',
  '/v1/subscription/changes',
  '/v1/subscription/changes/summary?since=2020-01-01T00:00:00Z',
  '/v1/subscription/findings',
  '/v1/subscription/id-0',
  '/v1/subscription/id-0/history',
];

/** Signals that a store was given, the latest last; its reads wait while `gate` is set. */
interface Observed {
  readonly signals: (AbortSignal | undefined)[];
  gate: Promise<void> | undefined;
}

function observe(store: Store, observed: Observed): Store {
  const waiting = ['readTenant', 'readTenantOnce', 'openSnapshot'];
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'within')
        return (...[deadline, signal]: Parameters<Store['within']>) => {
          observed.signals.push(signal);
          return observe(target.within(deadline, signal), observed);
        };
      if (!waiting.includes(String(name))) return value.bind(target);
      return async (...args: unknown[]) => {
        await observed.gate;
        return value.apply(target, args);
      };
    },
  });
}

describe.each(drawOne(engines, import.meta.url))('a client that leaves on $engine', ({ openTestStore }) => {
  const observed: Observed = { signals: [], gate: undefined };
  let service: TestService;
  let client: TestClient;
  let token: string;
  let change: () => Promise<unknown>;

  beforeAll(async () => {
    const opened = await openTestStore();
    service = await startService({ ...opened, store: observe(opened.store, observed) });
    const tenant: TenantId = await service.createTenant('acme');
    let createdDate = 0;
    change = () => {
      createdDate += 1;
      return opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id-0', createdDate })]);
    };
    await change();
    client = await service.createClient(tenant);
    token = await service.accessToken(client);
  });
  afterAll(() => service.close());

  test.each(paths)('ends its read of %s, and one that stays does not', async (path) => {
    observed.signals.length = 0;
    const response = await service.get(path, token);
    expect(response.status).toBeLessThan(500);
    // a body that nobody reads is cancelled when its response is collected as garbage
    await response.arrayBuffer();
    const stayed = observed.signals.filter((signal) => signal !== undefined);
    expect(stayed.length).toBeGreaterThan(0);

    await change(); // or the findings are known
    const gate = Promise.withResolvers<void>();
    observed.gate = gate.promise;
    observed.signals.length = 0;
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(
      `GET ${new URL(service.baseUrl).pathname}${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    await expect.poll(() => observed.signals.some((signal) => signal !== undefined)).toBe(true);
    socket.destroy();
    await once(socket, 'close');
    const left = (): boolean => observed.signals.every((signal) => signal?.aborted !== false);
    await expect.poll(left).toBe(true);
    gate.resolve();
    observed.gate = undefined;
    expect(stayed.map(({ aborted }) => aborted)).toEqual(stayed.map(() => false));
    expect(service.log.filter(({ msg }) => msg === 'request failed')).toEqual([]);
  });
});
