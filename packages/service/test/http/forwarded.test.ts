import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { startService } from '../../../../test/support/service.ts';

test.each([
  { trusted: '', client: '192.0.2.7', lines: 1 },
  { trusted: '10.0.0.0/8', client: '192.0.2.7', lines: 1 },
  { trusted: '127.0.0.0/8', client: '192.0.2.7', lines: 0 },
  { trusted: '', client: '127.0.0.1', lines: 1 },
  { trusted: '127.0.0.0/8', client: '127.0.0.1', lines: 0 },
])('with TRUSTED_PROXIES=$trusted the first untrusted X-Forwarded-For of $client is logged, once', async (given) => {
  const { trusted, client, lines } = given;
  const service = await startService(await engines[0].openTestStore(), { TRUSTED_PROXIES: trusted });
  const warnings = () => service.log.filter(({ msg }) => String(msg).startsWith('X-Forwarded-For is ignored'));
  await fetch(`${service.url}/healthz`);
  expect(warnings()).toHaveLength(0);
  for (let n = 0; n < 3; n += 1) await fetch(`${service.url}/healthz`, { headers: { 'x-forwarded-for': client } });
  expect(warnings()).toHaveLength(lines);
  expect(warnings().every(({ level, peer }) => level === 40 && peer === '127.0.0.1')).toBe(true);
  await service.close();
});

test.each([
  { trusted: '10.0.0.0/8', lines: 0 },
  { trusted: '127.0.0.0/8', lines: 1 },
])(
  'with TRUSTED_PROXIES=$trusted the first HTTP/1.0 request of a trusted proxy is logged, once',
  async ({ trusted, lines }) => {
    const service = await startService(await engines[0].openTestStore(), { TRUSTED_PROXIES: trusted });
    const { hostname, port } = new URL(service.url);
    for (const version of ['1.1', '1.0', '1.0']) {
      const socket = connect(Number(port), hostname);
      socket.resume();
      socket.write(
        `GET /healthz HTTP/${version}\r\nhost: x\r\nconnection: close\r\nx-forwarded-for: 192.0.2.7\r\n\r\n`,
      );
      await once(socket, 'close');
      const warnings = service.log.filter(({ msg }) => String(msg).startsWith('A trusted proxy sends HTTP/1.0'));
      expect(warnings).toHaveLength(version === '1.1' ? 0 : lines);
      expect(warnings.every(({ level, peer }) => level === 40 && peer === '127.0.0.1')).toBe(true);
    }
    await service.close();
  },
);

test('the warning of an untrusted X-Forwarded-For does not suppress that of a trusted proxy', async () => {
  const service = await startService(await engines[0].openTestStore(), { TRUSTED_PROXIES: '127.0.0.2' });
  const { port } = new URL(service.url);
  for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
    socket.resume();
    socket.write('GET /healthz HTTP/1.0\r\nhost: x\r\nx-forwarded-for: 192.0.2.7\r\n\r\n');
    await once(socket, 'close');
  }
  const warnings = service.log.filter(({ level }) => level === 40);
  expect(warnings.map(({ peer, msg }) => [peer, String(msg).split(':', 1)[0]])).toEqual([
    ['127.0.0.1', 'X-Forwarded-For is ignored'],
    ['127.0.0.2', 'A trusted proxy sends HTTP/1.0'],
  ]);
  await service.close();
});
