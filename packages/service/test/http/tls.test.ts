import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type PeerCertificate } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LinkedCertificate, linkCertificate } from '../../../../test/support/certificates.ts';
import { openSqlite } from '../../../../test/support/engines.ts';
import { startServe, startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  /** Of the certificate that the server presented. */
  readonly commonName: string | string[] | undefined;
  readonly isReused: boolean;
}

let service: TestService;
let port: number;
let files: LinkedCertificate;
const settings = () => ({ TLS_CERT_FILE: files.certificate, TLS_KEY_FILE: files.key });
const portOf = ({ url }: TestService) => Number(new URL(url).port);

/** Sends a request over TLS, and accepts only certificates in `ca`. */
async function send(
  path: string,
  { agent, token, form, to = port, ca }: { agent?: Agent; token?: string; form?: string; to?: number; ca: string },
): Promise<Answer> {
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const options = {
    host: '127.0.0.1',
    port: to,
    path,
    ca,
    headers,
    agent,
    method: form === undefined ? 'GET' : 'POST',
  };
  const sent = request({ ...options, agent: agent ?? new Agent() }).end(form);
  const [response] = await once(sent, 'response');
  const { subject } = response.socket.getPeerCertificate() as PeerCertificate;
  const { statusCode: status, headers: received } = response;
  return { status, headers: received, body: await text(response), commonName: subject.CN, isReused: sent.reusedSocket };
}

const logged = (message: string) => service.log.filter(({ msg }) => msg === message);

describe('a listener with TLS_CERT_FILE', () => {
  let client: TestClient;
  let management: number;

  beforeAll(async () => {
    files = linkCertificate();
    management = await freePort();
    service = await startService(
      await openSqlite(),
      {
        ...settings(),
        MANAGEMENT_PORT: String(management),
        MANAGEMENT_TLS_CERT_FILE: files.certificate,
        MANAGEMENT_TLS_KEY_FILE: files.key,
      },
      { connectionsPerAddressMax: 8 },
    );
    port = portOf(service);
    client = await service.createClient(await service.createTenant('acme'));
  });
  afterAll(async () => {
    await service.close();
    files.remove();
  });

  const sockets: Socket[] = [];
  const open = (options: ConnectionOptions = {}) => {
    const socket = connect({ host: '127.0.0.1', port, ca: files.pem, ...options });
    sockets.push(socket);
    return socket;
  };
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** The version and the cipher of a connection, or the error code of its failure. */
  const handshake = async (options: ConnectionOptions): Promise<string> => {
    const socket = open(options);
    const error = await once(socket, 'secureConnect').then(
      () => undefined,
      (reason: NodeJS.ErrnoException) => reason,
    );
    const result = error?.code ?? `${socket.getProtocol()} ${socket.getCipher().name}`;
    socket.destroy();
    return result;
  };

  test('serves reports and tokens over TLS, with Strict-Transport-Security', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString();
    const issued = await send('/oauth2/token', { form, agent, ca: files.pem });
    const { access_token: token } = JSON.parse(issued.body) as TokenResponse;
    const read = () => send('/connect-api/v1/subscription', { token, agent, ca: files.pem });
    const [first, second] = [await read(), await read()];
    expect([first.status, first.body, second.body]).toEqual([200, '[]', '[]']);
    expect(first.headers['strict-transport-security']).toMatch(/^max-age=31536000/);
    expect(first.headers['keep-alive']).toBe('timeout=15');
    expect(first.headers.link).toContain(`https://127.0.0.1:${port}/`);
    expect(second.isReused).toBe(true);
    agent.destroy();
  });

  test('accepts TLS 1.3, and TLS 1.2 only with forward secrecy and authenticated encryption (ASVS 12.1.1, 12.1.2)', async () => {
    expect(await handshake({})).toMatch(/^TLSv1\.3 /);
    expect(await handshake({ maxVersion: 'TLSv1.2' })).toMatch(/^TLSv1\.2 ECDHE-.*(GCM|POLY1305)/);
    expect(await handshake({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' })).toMatch(/^ERR_SSL/);
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await handshake(old)).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  test('closes a connection that speaks plain HTTP, or that is one too many, and logs its address', async () => {
    const plain = connectPlain(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(plain);
    plain.write('GET / HTTP/1.1\r\n\r\n');
    await once(plain.resume(), 'close');
    await expect
      .poll(() => logged('TLS handshake failed'))
      .toContainEqual(expect.objectContaining({ reason: 'ERR_SSL_HTTP_REQUEST', address: '127.0.0.1' }));
    const held = Array.from({ length: 8 }, () => open());
    await Promise.all(held.map((socket) => once(socket, 'secureConnect')));
    expect(await handshake({})).toBe('ECONNRESET');
    expect(logged('connection refused')).toContainEqual(expect.objectContaining({ address: '127.0.0.1' }));
    for (const socket of held) socket.destroy();
    await expect.poll(() => handshake({})).toMatch(/^TLS/);
  });

  test('the management listener uses its own settings, and /metrics has the expiry of both certificates', async () => {
    const { headers, body } = await send('/metrics', { to: management, ca: files.pem });
    expect(headers['strict-transport-security']).toMatch(/^max-age/);
    const expiries = [...body.matchAll(/^subreport_certificate_expiry_timestamp_seconds\{listener="(\w+)"\} (\d+)$/gm)];
    expect(expiries.map(([, listener]) => listener)).toEqual(['public', 'management']);
    const days = expiries.map(([, , expiresAt]) => (Number(expiresAt) - Date.now() / 1000) / 86_400);
    for (const left of days) expect(left).toBeCloseTo(30, 0);
  });
});

describe.each([1, 2])('serve --workers %i', (workers) => {
  let renewing: Awaited<ReturnType<typeof startServe>>;
  beforeEach(async () => {
    files = linkCertificate();
    const environment = { ...settings(), MANAGEMENT_PORT: '0' };
    renewing = await startServe(await openSqlite(), { environment, workers });
    service = renewing;
    port = portOf(service);
  });
  afterEach(async () => {
    await service.close();
    files.remove();
  });

  /** Waits until each worker has logged a message. */
  const untilLogged = (message: string) =>
    expect.poll(() => new Set(logged(message).map(({ worker }) => worker)).size).toBe(workers);

  test('after SIGHUP, new connections use the renewed certificate, and open ones continue', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = await send('/healthz', { agent, ca: files.pem });
    expect(before).toMatchObject({ status: 200, commonName: 'number 1' });
    const renewed = files.renew();
    renewing.signal('SIGHUP');
    await untilLogged('the certificate was read again');
    for (let count = 0; count < 3 * workers; count += 1)
      expect(await send('/healthz', { ca: renewed.pem })).toMatchObject({ status: 200, commonName: 'number 2' });
    const after = await send('/healthz', { agent, ca: files.pem });
    expect(after).toMatchObject({ status: 200, isReused: true, commonName: 'number 1' });
    agent.destroy();
  });

  test('after SIGHUP, a pair that cannot be used is logged as an error, and the old one stays in use', async () => {
    writeFileSync(files.key, 'not a key');
    renewing.signal('SIGHUP');
    await untilLogged('the certificate was not replaced');
    const [line] = logged('the certificate was not replaced');
    expect([line?.level, JSON.stringify(line)]).toEqual(['error', expect.not.stringContaining('not a key')]);
    expect(await send('/healthz', { ca: files.pem })).toMatchObject({ status: 200, commonName: 'number 1' });
  });
});
