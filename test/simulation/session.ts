import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Difference, Interrupted } from './failure.ts';
import type { System } from './system.ts';

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A response that was read completely. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** How to send a request. */
export interface SendOptions {
  readonly method?: 'PUT' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

const tokenTries = 4;
/**
 * Maximum retries: a service that is overloaded, or waits for another import, may refuse requests
 * for some seconds.
 */
const refusalsMax = 40;
const refusalPauseMs = 250;

/** The clients of the tenants and their tokens. A rejected token is replaced by a new one. */
export class Session {
  readonly #system: System;
  #readers: ReadonlyMap<string, Credentials> = new Map();
  #writers: ReadonlyMap<string, Credentials> = new Map();
  readonly #tokens = new Map<Credentials, string>();

  constructor(system: System) {
    this.#system = system;
  }

  async addTenant(tenant: string): Promise<void> {
    await this.#system.command(['tenant', 'create', tenant]);
    const create = ['client', 'create', '--tenant', tenant];
    const reader = (await this.#system.command(create)) as unknown as Credentials;
    const writer = await this.#system.command([...create, '--scopes', 'subscription:write']);
    this.#readers = new Map([...this.#readers, [tenant, reader]]);
    this.#writers = new Map([...this.#writers, [tenant, writer as unknown as Credentials]]);
  }

  /** Remembers the clients of now; the result makes them the clients of the session again. */
  keepClients(): () => void {
    const [readers, writers] = [this.#readers, this.#writers];
    return () => {
      [this.#readers, this.#writers] = [readers, writers];
      this.#tokens.clear();
    };
  }

  /** The access token that a tenant's reader currently uses, if any. */
  tokenOf(tenant: string): string | undefined {
    return this.#tokens.get(required(this.#readers.get(tenant)));
  }

  /** Sends a GET below the base URL as the tenant's reader. Throws `Interrupted` as `send` does. */
  async get(service: 0 | 1, tenant: string, path: string, headers: SendOptions['headers'] = {}): Promise<Received> {
    const url = `${required(this.#system.places[service]).url}/connect-api/v1/subscription${path}`;
    return this.#sendAuthorized(service, required(this.#readers.get(tenant)), url, { headers });
  }

  /** Sends a body to a path below the base URL as the tenant's reader. */
  async post(
    service: 0 | 1,
    tenant: string,
    path: string,
    body: Uint8Array,
    headers: SendOptions['headers'],
  ): Promise<Received> {
    const url = `${required(this.#system.places[service]).url}/connect-api/v1/subscription${path}`;
    return this.#sendAuthorized(service, required(this.#readers.get(tenant)), url, {
      method: 'POST',
      body,
      headers: headers ?? {},
    });
  }

  /** Sends records of a tenant to the management listener. */
  async put(service: 0 | 1, tenant: string, query: string, options: SendOptions): Promise<Received> {
    const { managementUrl } = required(this.#system.places[service]);
    const url = `${managementUrl}/operator/v1/tenants/${tenant}/subscriptions${query}`;
    return this.#sendAuthorized(service, required(this.#writers.get(tenant)), url, { method: 'PUT', ...options });
  }

  async #sendAuthorized(
    service: 0 | 1,
    credentials: Credentials,
    url: string,
    options: SendOptions,
  ): Promise<Received> {
    for (let tries = 1; ; tries += 1) {
      const token = this.#tokens.get(credentials) ?? (await this.#newToken(service, credentials));
      const headers = { ...options.headers, authorization: `Bearer ${token}` };
      const received = await send(url, { ...options, headers });
      if (received.status !== 401 || tries === tokenTries) return received;
      if (this.#tokens.get(credentials) === token) this.#tokens.delete(credentials);
      await sleep(50);
    }
  }

  async #newToken(service: 0 | 1, credentials: Credentials): Promise<string> {
    const { url } = required(this.#system.places[service]);
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...credentials });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await request(`${url}/oauth2/token`, { method: 'POST', headers, body: form.toString() });
    if (response.status !== 200)
      throw new Difference(`the token endpoint returned ${response.status}: ${response.text}`);
    const { access_token: token } = JSON.parse(response.text) as { access_token: string };
    this.#tokens.set(credentials, token);
    return token;
  }
}

/**
 * Sends a request, and again after 429 and 503. Throws `Interrupted` if it is refused for some ten
 * seconds or the connection breaks, `Difference` on any other 5xx.
 */
export const send = (url: string, { body, ...options }: SendOptions): Promise<Received> =>
  request(url, { ...options, ...(body !== undefined && { body: new Blob([body as Uint8Array<ArrayBuffer>]) }) });

async function request(url: string, options: RequestInit, refusals = 0): Promise<Received> {
  let received: Received;
  // While the model computed, the service may have closed idle connections. fetch notices it here.
  await setImmediate();
  try {
    const response = await fetch(url, options);
    received = { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    throw new Interrupted(`${url}: ${(error as Error).message}: ${String((error as Error).cause)}`);
  }
  const { status, text } = received;
  if (status === 503 || status === 429) {
    if (refusals === refusalsMax) throw new Interrupted(`${url}: ${status}: ${text}`);
    await sleep(refusalPauseMs);
    return request(url, options, refusals + 1);
  }
  if (status >= 500) throw new Difference(`${url} returned ${status}: ${text}`);
  return received;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('Cannot continue: the requested value must exist');
  return value;
}
