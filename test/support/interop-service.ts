import { expect } from 'vitest';
import type { TestStore } from './engines.ts';
import { subscriptionRow } from './rows.ts';
import { startService, type TestClient, type TestService } from './service.ts';

/**
 * A service for third-party OAuth clients: one tenant with one record, and credentials of each
 * kind.
 */
export interface InteropService extends Pick<TestService, 'url' | 'baseUrl' | 'close'> {
  /** The URL of the report with one record. */
  readonly reportUrl: string;
  /**
   * Credentials by kind: `generated` by the service, or `imported` with characters that HTTP Basic
   * must form-encode.
   */
  readonly clients: Readonly<Record<CredentialKind, TestClient>>;
  /** The generated client's id with another secret. */
  readonly wrong: TestClient;
  /** Asserts that a response is the report of the tenant's one record. */
  expectReport(response: Response): Promise<void>;
}

/** Both kinds of credentials that every client must support. */
export const credentialKinds = ['generated', 'imported'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** Each character reveals a kind of wrong encoding; `%41` reveals double decoding. */
const imported: TestClient = {
  client_id: 'old:app+1&2%41',
  client_secret: ` p:a+s%s&w=o/r?d%41 "'()*!~ `,
};

/** Starts the service for the interoperability tests. */
export async function startInteropService(opened: TestStore): Promise<InteropService> {
  const service = await startService(opened, { ACCESS_TOKEN_SECONDS: '300' });
  const tenant = await service.createTenant('acme');
  const generated = await service.createClient(tenant);
  await service.createClient(tenant, { clientId: imported.client_id, secret: imported.client_secret });
  const row = subscriptionRow({ id: 'subscription-1' });
  await service.store.loadSubscriptions(tenant, [row]);
  return {
    url: service.url,
    baseUrl: service.baseUrl,
    reportUrl: `${service.baseUrl}/v1/subscription`,
    clients: { generated, imported },
    wrong: { ...generated, client_secret: imported.client_secret },
    async expectReport(response) {
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual([JSON.parse(row.record)]);
    },
    close: () => service.close(),
  };
}
