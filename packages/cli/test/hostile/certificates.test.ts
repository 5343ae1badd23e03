import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, type SignedOptions, signCertificate } from '../../../../test/support/certificates.ts';
import { isWhole } from '../../../../test/support/draw.ts';
import { startHostile } from './hostile-server.ts';
import { programs, requireCalm, requireSmall, runWatched } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-wrong-tls-'));
const here = 'IP:127.0.0.1';

/** Certificates of the authority that the programs trust. */
const signed: Readonly<Record<string, SignedOptions>> = {
  expired: { host: here, dates: ['20200101000000Z', '20200201000000Z'] },
  'not valid yet': { host: here, dates: ['20480101000000Z', '20490101000000Z'] },
  'of another host': { host: 'DNS:reports.example.com' },
  'of a client': { host: here, extensions: ['extendedKeyUsage=clientAuth'] },
};
const wrong = [...Object.keys(signed), 'self-signed', 'of an unknown authority', 'of an issuer that is none'];

const trusted = join(folder, 'trusted/tls.crt');
const servers = new Map<string, { readonly url: string; readonly close: () => void }>();
let requests = 0;
let honest: Awaited<ReturnType<typeof startHostile>>;

async function listen(name: string, key: string, cert: string): Promise<void> {
  const server = createServer({ key: readFileSync(key), cert }, (_request, response) => {
    requests += 1;
    response.end();
  });
  server.on('tlsClientError', () => undefined); // the program gave up, as it must
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  servers.set(name, { url: `https://127.0.0.1:${port}`, close: () => server.close() });
}

beforeAll(async () => {
  honest = await startHostile();
  const authority = makeCertificate(join(folder, 'trusted'), 'trusted');
  for (const [name, options] of Object.entries(signed)) {
    const { key, pem } = signCertificate(folder, name, authority, options);
    await listen(name, key, pem);
  }
  const self = makeCertificate(join(folder, 'self'), 'self');
  await listen('self-signed', self.key, self.pem);
  const unknown = makeCertificate(join(folder, 'unknown'), 'unknown');
  const stranger = signCertificate(folder, 'stranger', unknown, { host: here });
  await listen('of an unknown authority', stranger.key, stranger.pem);
  const extensions = ['basicConstraints=critical,CA:FALSE'];
  const issuer = signCertificate(folder, 'issuer', authority, { host: here, extensions });
  const forged = signCertificate(folder, 'forged', issuer, { host: here });
  await listen('of an issuer that is none', forged.key, forged.pem + issuer.pem);
});
afterAll(() => {
  honest.close();
  for (const { close } of servers.values()) close();
  rmSync(folder, { recursive: true });
});

/** The programs of a run of CI, one for each certificate: all kinds of destinations. */
const chosen = ['list', 'token', 'changes', 'sync sqlite', 'login', 'export csv', 'whoami'];

const pairs = programs.flatMap(([name, program]) =>
  wrong
    .filter((_certificate, position) => isWhole || chosen[position] === name)
    .map((certificate) => ({ name, program, certificate })),
);

test.concurrent.each(pairs)('$name sends nothing to a server whose certificate is $certificate', async (pair) => {
  const { name, program, certificate } = pair;
  const { url = '' } = servers.get(certificate) ?? {};
  const outcome = await runWatched(program, url, {
    environment: { NODE_EXTRA_CA_CERTS: trusted },
    tokenUrl: `${honest.urlOf('an endless body')}/honest/token`,
  });
  requireCalm(outcome, program.mayEnd);
  if (program.mayEnd === undefined) expect(outcome.stderr).toMatch(new RegExp(`^Cannot .*${url}.*certificate`, 'm'));
  if (['list', 'token', 'login', 'whoami'].includes(name)) expect(outcome.stderr).toMatch(/^Cause: \S+/m);
  await requireSmall(outcome);
});

test('no server with a wrong certificate has received a request', () => {
  expect(pairs.length).toBeGreaterThanOrEqual(wrong.length);
  expect(requests).toBe(0);
});
