import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../free-port.ts';
import { userEnvironment } from './run.ts';

/** The records of the demo. */
export const demoRecords = 2_000;

/** Content of `demo-client.json`. */
interface DemoClient {
  readonly base_url: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: string;
}

/** A demo service in a process of its own. */
export interface DemoService {
  readonly origin: string;
  readonly client: DemoClient;
  stop(): Promise<void>;
}

/** Starts a command such as `npx subreport serve --demo` and waits until it is ready. */
export async function startDemo(folder: string, node: string, ...command: readonly string[]): Promise<DemoService> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...userEnvironment(node), PORT: String(port), MANAGEMENT_PORT: '0', LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npx starts the command in a shell: a signal to the process group reaches both
    detached: true,
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await ended;
  };
  for (;;) {
    const client = (await isReady(origin)) ? findClient(folder, origin) : undefined;
    if (client !== undefined) return { origin, client, stop };
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} exited: ${(await output).join('')}`);
    await delay(50);
  }
}

/** The client of the demo at an origin, from one of the files that demos wrote below a folder. */
function findClient(folder: string, origin: string): DemoClient | undefined {
  const files = globSync('**/demo-client.json', { cwd: folder, exclude: ['**/node_modules'] });
  return files
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .filter((text) => text.endsWith('}\n')) // complete
    .map((text): DemoClient => JSON.parse(text))
    .find(({ base_url }) => base_url.startsWith(origin));
}

const isReady = (origin: string): Promise<boolean> =>
  fetch(`${origin}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Gets a token and a page of the report with fetch; returns the cell of the table. */
export async function readReport({ client }: DemoService): Promise<string> {
  const token = await fetch(client.token_url, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.client_id,
      client_secret: client.client_secret,
    }),
  });
  const { access_token } = (await token.json()) as { access_token: string };
  const page = await fetch(`${client.base_url}/v1/subscription?size=2`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  const records = (await page.json()) as unknown[];
  const total = page.headers.get('x-total-count');
  if (records.length !== 2 || total !== String(demoRecords)) throw new Error(`the report has ${total} records`);
  return `token, then ${records.length} of ${total} records`;
}

/** Gets the pages of a service and what they load; returns the cell of the table. */
export async function readPages({ origin }: DemoService): Promise<string> {
  const counts = await Promise.all(
    ['/console', '/docs'].map(async (page) => {
      const html = await (await get(origin + page)).text();
      const links = [...html.matchAll(/(?:src|href)="(?!data:|#)([^"]+)"/g)].map(([, link = '']) => link);
      await Promise.all(links.map((link) => get(new URL(link, origin + page).href)));
      return `${page} loads ${links.length} files`;
    }),
  );
  return counts.join(', ');
}

/** Gets a URL. Throws unless the status is 200. */
async function get(url: string): Promise<Response> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`);
  return response;
}
