import { engines } from '../../../test/support/engines.ts';
import { startService, type TestClient, type TestService } from '../../../test/support/service.ts';
import { importRecords } from '../../service/import/import-records.ts';
import { syntheticRows } from '../../service/import/synthetic-rows.ts';
import { createClientWith } from '../client.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { ClientOptions, SubreportClient, ValueStore } from '../index.ts';

/** A service with the records of one tenant, and clients for it. */
export interface ClientService {
  readonly service: TestService;
  readonly credentials: TestClient;
  /** The imported rows, which have an email address in addition to the record. */
  readonly rows: readonly ReturnType<typeof rowsOf>[number][];
  clientOf(more?: Partial<ClientOptions>, given?: TestClient, clock?: Clock): SubreportClient;
}

/** Starts a service with records; what the client does does not depend on the engine. */
export async function startClientService(environment: Record<string, string> = {}): Promise<ClientService> {
  const service = await startService(await engines[0].openTestStore(), environment);
  const tenant = await service.createTenant('acme');
  const credentials = await service.createClient(tenant);
  const rows = rowsOf();
  const source = (async function* () {
    yield Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
  })();
  await importRecords(service.store, tenant, source, { format: 'ndjson', dryRun: false, onRejected: () => undefined });
  return {
    service,
    credentials,
    rows,
    clientOf: (more = {}, given = credentials, clock = systemClock) =>
      createClientWith({ ...optionsOf(service, given), ...more } as ClientOptions, clock),
  };
}

const rowsOf = () => [...syntheticRows({ count: 250, seed: 3, until: 1_780_000_000 })];

/** The options that every client of a service needs. */
export const optionsOf = (service: Pick<TestService, 'baseUrl' | 'url'>, given: TestClient) => ({
  baseUrl: service.baseUrl,
  tokenUrl: `${service.url}/oauth2/token`,
  clientId: given.client_id,
  clientSecret: given.client_secret,
});

/** The error that a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const failed = Symbol();
  const outcome = await promise.then(
    () => failed,
    (error: unknown) => error,
  );
  if (outcome === failed) throw new Error('the promise was not rejected');
  return outcome;
}

/** A store in memory, with the value that a crashed program would find. */
export function createMemoryStore<Value>(): ValueStore<Value> & { value: Value | undefined } {
  return {
    value: undefined,
    load() {
      return this.value;
    },
    save(value) {
      this.value = value;
    },
  };
}
