import { expect, test } from 'vitest';
import { readConfig } from '../config.ts';

const pair = { TLS_CERT_FILE: '/tls/a.crt', TLS_KEY_FILE: '/tls/a.key' };

test('with TLS_CERT_FILE, the default of PUBLIC_URL is https', () => {
  expect(readConfig(pair).publicUrl).toBe('https://127.0.0.1:8080');
});

test.each([
  [{ TLS_CERT_FILE: '/tls/a.crt' }, "TLS_KEY_FILE must be set as well: current value is '/tls/a.crt'"],
  [{ MANAGEMENT_TLS_KEY_FILE: '/tls/a.key' }, 'MANAGEMENT_TLS_CERT_FILE must be set as well'],
  [{ ...pair, HOST: 'localhost' }, 'HOST must be an address, such as 127.0.0.1'],
  [{ ...pair, PUBLIC_URL: 'http://reports.example.com' }, 'PUBLIC_URL must start with https://'],
])('%j is rejected', (environment, reason) => {
  expect(() => readConfig(environment)).toThrow(reason);
});
