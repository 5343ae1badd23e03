import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { GrantType, Scope } from '../../packages/contract/oauth/grant.ts';
import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { readConfig } from '../../packages/service/cli/config.ts';
import { serve } from '../../packages/service/cli/serve.ts';
import type { FixedLimits } from '../../packages/service/cli/settings/fixed-limits.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { freePort } from '../../tools/free-port.ts';
import { addTenant } from './add-tenant.ts';
import { requireDocumented } from './documented-statuses.ts';
import { drawPairs } from './draw.ts';
import { engines, type TestStore } from './engines.ts';
import { startCommand, untilWritten } from './run-command.ts';

/** Credentials of a test client. */
export interface TestClient {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A real service on a loopback port, with a store of one of the engines. */
export interface TestService {
  readonly url: string;
  readonly baseUrl: string;
  readonly store: Store;
  /** Every line that the service logged, parsed. */
  readonly log: Record<string, unknown>[];
  /** The log as it was written. */
  logText(): string;
  createTenant(name: string): Promise<TenantId>;
  createClient(
    tenant: TenantId,
    options?: {
      grants?: readonly GrantType[];
      scopes?: readonly Scope[];
      secret?: string;
      clientId?: string;
      name?: string;
    },
  ): Promise<TestClient>;
  /** Sends a form to the token endpoint. */
  postToken(form: Record<string, string> | string, headers?: Record<string, string>): Promise<Response>;
  /** Requests an access token for a client. */
  accessToken(client: TestClient): Promise<string>;
  /** Sends a GET below the base URL with a token. */
  get(path: string, token: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** Limits that a slow machine could otherwise reach in unrelated tests. */
const patient = { ACCESS_TOKEN_SECONDS: '3600', REQUEST_SECONDS_MAX: '60' };

/** Starts a service on a store; `environment` has further settings, `fixed` other limits. */
export async function startService(
  opened: TestStore,
  environment: Record<string, string> = {},
  fixed: Partial<FixedLimits> = {},
): Promise<TestService> {
  const { store } = opened;
  const port = await freePort();
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const config = readConfig({
    ...patient,
    ...opened.environment,
    PORT: String(port),
    MANAGEMENT_PORT: '0',
    ...environment,
  });
  const { app, management } = await serve(
    { ...config, fixed: { ...config.fixed, ...fixed } },
    store,
    pino({ level: 'trace' }, sink),
  );
  return serviceAt(port, store, {
    logText: () => text,
    async close() {
      await Promise.all([app.close(), management?.close()]);
      await opened.close();
    },
  });
}

/** Starts `subreport serve --workers 2` on a store; `environment` has further settings. */
export const startWorkers = (opened: TestStore, environment: Record<string, string> = {}): Promise<CommandService> =>
  startServe(opened, { environment, workers: 2 });

/** A service in a process of its own. */
interface CommandService extends TestService {
  readonly signal: (signal: NodeJS.Signals) => void;
}

/** Starts `subreport serve` on a store. */
export async function startServe(
  opened: TestStore,
  { environment, workers }: { readonly environment: Record<string, string>; readonly workers: number },
): Promise<CommandService> {
  const port = await freePort();
  const command = startCommand(['serve', '--workers', String(workers)], {
    environment: { ...patient, ...opened.environment, PORT: String(port), LOG_LEVEL: 'trace', ...environment },
  });
  await untilWritten(command, '"serving"');
  const service = serviceAt(port, opened.store, {
    logText: command.stdout,
    async close() {
      command.child.kill('SIGTERM');
      const { code, stderr } = await command.ended;
      await opened.close();
      if (code !== 0 || stderr !== '') throw new Error(`the service ended with ${code}: ${stderr}`);
    },
  });
  return Object.assign(service, { signal: (signal: NodeJS.Signals) => void command.child.kill(signal) });
}

/** The same service in this process, and with worker processes. */
export const services = [
  { service: 'this process', processes: 1, start: startService },
  { service: '--workers 2', processes: 2, start: startWorkers },
] as const;

/** Pairs of these services and the engines. */
export const servicesOnEngines = drawPairs(engines, services).map(([engine, service]) => ({ ...engine, ...service }));

/** The client side of a service, wherever it runs. */
function serviceAt(port: number, store: Store, running: Pick<TestService, 'logText' | 'close'>): TestService {
  const url = `http://127.0.0.1:${port}`;
  const baseUrl = `${url}/connect-api`;
  const readLog = logReader(running.logText);
  const postToken: TestService['postToken'] = (form, headers = {}) =>
    fetch(`${url}/oauth2/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
    });
  return {
    url,
    baseUrl,
    store,
    get log() {
      return [...readLog()];
    },
    logText: running.logText,
    createTenant: (name) => addTenant(store, name, now()),
    createClient: (tenant, options = {}) => createClient(store, now(), { tenant, ...options }),
    postToken,
    async accessToken(client) {
      const response = await postToken({ grant_type: 'client_credentials', ...client });
      const body = (await response.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
      return body.access_token;
    },
    get: (path, token, headers = {}) =>
      fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
    async close() {
      await running.close();
      requireDocumented(running.logText());
    },
  };
}

/** Parses each line of a growing log once: tests read it many times while they wait. */
function logReader(logText: () => string): () => readonly Record<string, unknown>[] {
  const parsed: Record<string, unknown>[] = [];
  let end = 0;
  return () => {
    const text = logText();
    const newEnd = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(end, newEnd).split('\n')) if (line !== '') parsed.push(JSON.parse(line));
    end = newEnd;
    return parsed;
  };
}

const now = (): number => Math.floor(Date.now() / 1000);
