import { writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { linkCertificate } from '../../../../test/support/certificates.ts';
import { readConfig } from '../../cli/config.ts';
import { checkCertificates } from '../../cli/operator/doctor-command.ts';

const files = linkCertificate();
const config = readConfig({ TLS_CERT_FILE: files.certificate, TLS_KEY_FILE: files.key });
afterAll(() => files.remove());

test('doctor reports when the certificate expires, and a renewal that is late or broken as a problem', () => {
  expect(checkCertificates(readConfig({}))).toEqual([]);
  const [valid] = checkCertificates(config);
  expect(valid).toMatchObject({ check: 'certificate', ok: true, message: expect.stringMatching(/in (29|30) days$/) });
  files.renew(10);
  expect(checkCertificates(config)).toMatchObject([{ ok: false, message: expect.stringContaining('14 more days') }]);
  writeFileSync(files.key, 'not a key');
  expect(checkCertificates(config)).toMatchObject([{ ok: false, message: expect.stringContaining('private key') }]);
});
