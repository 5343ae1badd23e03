import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isWhole } from '../../../../test/support/draw.ts';
import { runCommand } from '../../../../test/support/run-command.ts';
import { secret } from './hostile-server.ts';
import { programs, requireCalm, requireSmall, runWatched } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-proxy-'));
const seen: string[] = [];
const server = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  const isToken = request.url?.endsWith('/token') === true;
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(isToken ? '{"access_token":"abc","token_type":"Bearer","expires_in":300}' : '[]');
});
server.on('connect', (request, socket) => {
  seen.push(`CONNECT ${request.url}`);
  socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
});
/** A proxy that accepts connections, and says nothing. */
const silent = createNetServer((socket) => {
  socket.on('error', () => undefined); // the program gave up
  sockets.push(socket);
});
const sockets: Socket[] = [];
let address: string;
let silentAddress: string;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  silentAddress = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
});
beforeEach(() => {
  seen.length = 0;
});
afterAll(() => {
  server.close();
  for (const socket of sockets) socket.destroy();
  silent.close();
  rmSync(folder, { recursive: true });
});

function list(url: string, environment: Record<string, string>) {
  const secrets = { client_id: 'acme', client_secret: 'q7Z2kVb9XcN4mRt8', allow_http: true };
  const profile = { base_url: `${url}/connect-api`, token_url: `${url}/token`, ...secrets };
  writeFileSync(join(folder, 'subreport/profiles/default.json'), JSON.stringify(profile));
  return runCommand(['list', '--json'], { environment: { XDG_CONFIG_HOME: folder, ...environment } });
}

test('a request to another machine goes through the proxy, and one to this machine does not', async () => {
  const proxy = { HTTP_PROXY: `http://${address}` };
  await list('http://reports.invalid', proxy);
  expect(seen[0]).toMatch(/^(POST http:|CONNECT )/);
  expect(seen.join()).toContain('reports.invalid');
  seen.length = 0;
  await list(`http://${address}`, { HTTP_PROXY: 'http://127.0.0.1:9' });
  expect(seen[0]).toBe('POST /token');
});

test.each([
  ['refuses connections', () => '127.0.0.1:9'],
  ['has no route', () => address],
])('a proxy that %s is named without its credentials', async (_case, host) => {
  const { code, stderr } = await list('https://reports.invalid', { HTTPS_PROXY: `http://ada:hunter22@${host()}` });
  expect(code).toBe(1);
  expect(stderr).toContain(`go through the proxy ${host()} of HTTPS_PROXY`);
  expect(stderr).not.toContain('hunter22');
});

test.each([
  ['whose password is not percent-encoded', () => `ada:${secret}@${address}`],
  ['with a carriage return of an env file of Windows', () => `${address}\r`],
])('a proxy %s is refused without being shown', async (_case, place) => {
  const { code, stderr } = await list('https://reports.invalid', { HTTPS_PROXY: `http://${place()}` });
  expect(stderr).toMatch(/^Cannot use the proxy of HTTPS_PROXY: it must be a URL such as .* percent-encoded\n$/);
  expect(code).toBe(2);
});

/** A run of CI has one program for each kind of destination. */
const chosen = ['token', 'list', 'sync sqlite'];

test.concurrent.each(
  programs
    .filter(([name]) => (isWhole || chosen.includes(name)) && name !== 'login')
    .flatMap(([name, program]) => [
      { name, program, proxy: 'has no route', host: () => address },
      { name, program, proxy: 'never answers', host: () => silentAddress },
    ]),
)('$name names a proxy that $proxy', async ({ program, host }) => {
  const environment = { HTTPS_PROXY: `http://ada:${encodeURIComponent(secret)}@${host()}` };
  const outcome = await runWatched(program, 'https://reports.invalid', { environment });
  requireCalm(outcome, program.mayEnd);
  if (program.mayEnd === undefined) expect(outcome.stderr).toContain(`go through the proxy ${host()} of HTTPS_PROXY`);
  await requireSmall(outcome);
});
