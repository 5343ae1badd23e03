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
