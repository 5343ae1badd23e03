import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { credentialsFile, environmentFile, loginCommand } from './credentials.ts';

const url = 'https://reports.example.com';

test.each(['kV2-Zq8.tYw4_Nf7', 'a"b c#d', "it's $HOME", '`x` \\n "y"'])(
  'a file with the secret %s is read back unchanged',
  (secret) => {
    const credentials = { client_id: 'acme web', client_secret: secret, tenant: 'acme' };
    expect(parseEnv(environmentFile(url, credentials))).toEqual({
      SUBREPORT_URL: url,
      SUBREPORT_CLIENT_ID: 'acme web',
      SUBREPORT_CLIENT_SECRET: secret,
    });
    expect(JSON.parse(credentialsFile(url, credentials))).toMatchObject({
      ...credentials,
      base_url: `${url}/connect-api`,
    });
  },
);

test('the command quotes an id that a shell would split', () => {
  expect(loginCommand(url, "it's")).toBe(`subreport login --url ${url} --client-id 'it'\\''s'`);
});
