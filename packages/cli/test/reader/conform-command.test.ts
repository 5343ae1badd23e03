import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../../../test/support/run-here.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { ConnectServer, credentials, ordinary } from '../conform/connect-server.ts';
import { mistakes } from '../conform/mistakes.ts';
import { accountRecords } from '../conform/records.ts';

const server = new ConnectServer(accountRecords(57));
const folder = mkdtempSync(join(tmpdir(), 'subreport-conform-'));
const secretFile = join(folder, 'secret.txt');
const environment = { XDG_CONFIG_HOME: folder };
const args = (url = server.url, tokenUrl = `${server.url}/token`): string[] => [
  ...['conform', '--url', url, '--token-url', tokenUrl, '--client-id', credentials.clientId],
  ...['--client-secret-file', secretFile],
];
const conform = (...more: string[]) => runHere([...args(), ...more], environment);

beforeAll(async () => {
  await server.listen();
  writeFileSync(secretFile, `${credentials.clientSecret}\n`);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  Object.assign(server, { behavior: {}, variant: ordinary });
});

describe('subreport conform', () => {
  test('prints a table of the checks, what a copy must know, and the requests', async () => {
    const { code, stdout, stderr } = await conform();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^CHECK +RESULT +SEEN\nauth-1-token-required +passed +status 401\n/);
    expect(stdout).toMatch(/\n {2}first page +1\n/);
    expect(stdout).toMatch(/\n\d+ passed, 0 failed, 0 not applicable; \d+ of at most 200 requests\n$/);
  });

  test('names in its help the exit codes that these tests see', async () => {
    const { stdout } = await runHere(['conform', '--help'], environment);
    expect(stdout).toContain(
      '\nExit codes: 0 if no check failed, 1 if one did, 2 if the server cannot be checked, or not wholly.\n',
    );
  });

  test('exits with 1 and the sentence of a check that failed, and writes JUnit XML', async () => {
    server.behavior = mistakes.find(({ check }) => check === 'record-auto-renew') ?? {};
    const junit = join(folder, 'conform.xml');
    const { code, stdout } = await conform('--junit', junit);
    expect(code).toBe(1);
    expect(stdout).toContain(
      'Failed:\n  record-auto-renew: auto_renew is the string true or false, not a JSON boolean.',
    );
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuite name="http:[^"]+" tests="\d+" failures="1"/,
    );
    expect(xml.match(/<failure /g)).toHaveLength(1);
    expect(xml).toContain('<failure message="1 of 57 records; auto_renew is of type boolean: id c3Vi0008"/>');
  });

  test('prints the result also if the file for JUnit cannot be written', async () => {
    const junit = join(folder, 'none/conform.xml');
    const { code, stdout, stderr } = await conform('--junit', junit);
    const rule = 'it must be a file that this user can write, in an existing folder (ENOENT)';
    expect([code, stderr]).toEqual([2, `Cannot write '${junit}': ${rule}\n`]);
    expect(stdout).toMatch(/ 0 failed, /);
  });

  test('prints JSON with each check, its sentence and what was seen', async () => {
    const { code, stdout, stderr } = await conform('--json', '--max-requests', '30');
    const report = JSON.parse(stdout);
    const told = 'Cannot check the server wholly: --max-requests must suffice for all checks';
    expect([code, stderr]).toEqual([2, `${told}: ${report.not_checked} were left after 30 requests\n`]);
    expect(report.not_checked).toBeGreaterThan(9);
    expect(report).toMatchObject({ base_url: `${server.url}/connect-api`, requests: 30, max_requests: 30 });
    expect(report.checks[0]).toEqual({
      id: 'auth-1-token-required',
      sentence: 'The report is not sent without an access token: the status is 401.',
      result: 'passed',
      seen: 'status 401',
    });
  });

  test.each([
    ['conform', ['--credentials', join(folder, 'subreport/profiles/two-lines.json')]],
    ['login', ['--credentials', join(folder, 'subreport/profiles/two-lines.json'), '--profile', 'new']],
  ])('%s names a secret with a line break, and sends nothing', async (command, more) => {
    mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
    const content = { base_url: 'http://127.0.0.1:9/connect-api', client_id: 'acme', client_secret: 'q7Z2kVb9\n' };
    writeFileSync(join(folder, 'subreport/profiles/two-lines.json'), JSON.stringify(content));
    const { code, stderr } = await runHere([command, ...more], environment);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Cannot use the client secret: it must have no line')]);
  });

  test.each([
    ['conform', ['--credentials', join(folder, 'subreport/profiles/twice.json')]],
    ['conform', ['--profile', 'twice']],
    ['login', ['--credentials', join(folder, 'subreport/profiles/twice.json'), '--profile', 'new']],
  ])('%s %j names a member of a file with credentials that is repeated', async (command, more) => {
    mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
    const content = '{"base_url":"http://127.0.0.1:9","client_id":"a","client_secret":"s","client_id":"b"}';
    writeFileSync(join(folder, 'subreport/profiles/twice.json'), content);
    const { code, stderr } = await runHere([command, ...more], environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining("each member must be given once: 'client_id' is")]);
  });

  test('checks the server of a profile or of a file with credentials', async () => {
    const { baseUrl, tokenUrl, clientId, clientSecret } = server.target;
    const file = join(folder, 'credentials.json');
    const content = { base_url: baseUrl, token_url: tokenUrl, client_id: clientId, client_secret: clientSecret };
    writeFileSync(file, JSON.stringify(content));
    const given = ['--credentials', file, '--json'];
    expect(JSON.parse((await runHere(['conform', ...given], environment)).stdout)).toMatchObject({ failed: 0 });
    mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
    writeFileSync(join(folder, 'subreport/profiles/acme.json'), JSON.stringify(content));
    const ofProfile = await runHere(['conform', '--profile', 'acme', '--json'], environment);
    expect(JSON.parse(ofProfile.stdout)).toMatchObject({ failed: 0, requests: expect.any(Number) });
  });

  test('escapes what a server sends in JUnit XML', async () => {
    server.behavior = {
      response: (response) => ({ ...response, headers: { ...response.headers, 'content-type': 'a"<b>&\tc' } }),
    };
    const junit = join(folder, 'escaped.xml');
    await conform('--junit', junit);
    expect(readFileSync(junit, 'utf8')).toContain('message="a&quot;&lt;b&gt;&amp;\ufffdc"');
  });
});

describe('subreport conform exits with 2 and a sentence', () => {
  const startServer = async (listener: RequestListener): Promise<{ url: string; server: Server }> => {
    const started = createServer(listener);
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(started.address() as AddressInfo).port}`, server: started };
  };
  const expectRefusal = async (given: string[], sentence: string | RegExp) => {
    const { code, stdout, stderr } = await runHere(given, environment);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain(credentials.clientSecret);
  };

  test('if the server cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await expectRefusal(
      args(url, `${url}/token`),
      /^Cannot check the server: .*\/token must respond completely: .+\n$/,
    );
  });

  test('if the secret is wrong', async () => {
    const wrong = join(folder, 'wrong.txt');
    writeFileSync(wrong, 'wrong');
    await expectRefusal(
      [...args(), '--client-secret-file', wrong],
      /must accept the client id and the secret: .* responded with 401 application\/json invalid_client\n$/,
    );
  });

  test('if a secret would travel unencrypted to another machine', async () => {
    const sentence = /must be https .*: current value is 'http:\/\/reports.example.com'\n$/;
    await expectRefusal(args('http://reports.example.com'), sentence);
    await expectRefusal(args(server.url, 'http://reports.example.com/token'), sentence);
  });

  test.each(['html', 'nothing'])('if the token endpoint or the report returns %s with status 200', async (body) => {
    const html = body === 'html' ? '<!doctype html><title>Sign in</title>' : '';
    const headers = { 'content-type': 'text/html' };
    server.behavior = { response: (response) => ({ ...response, headers, body: html }) };
    await expectRefusal(args(), /JSON that has an access_token: .* responded with 200 text\/html\n$/);
    server.behavior = {
      response: (response, { path }) => (path === '/token' ? response : { ...response, headers, body: html }),
    };
    await expectRefusal(args(), /must be a JSON array: .* responded with 200 text\/html\n$/);
  });

  test('if a response never ends', async () => {
    const endless = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', write);
      write();
    });
    await expectRefusal(
      args(server.url, `${endless.url}/token`),
      /must have at most 8 MiB: that of .*\/token has more/,
    );
    endless.server.closeAllConnections();
    endless.server.close();
  });

  test('if the connection ends within a response', async () => {
    const broken = await startServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('[');
      setImmediate(() => response.destroy());
    });
    await expectRefusal(args(server.url, `${broken.url}/token`), /\/token must respond completely: .+\n$/);
    broken.server.close();
  });

  test('if there is no metadata of the token endpoint', async () => {
    const given = ['conform', '--url', server.url, '--client-id', 'acme', '--client-secret-file', secretFile];
    await expectRefusal(given, /^Cannot find the token endpoint: --token-url must be given/);
  });

  test('if the token endpoint of a file is that of another server than --url: it gets no secret', async () => {
    let requests = 0;
    const other = await startServer((_request, response) => {
      requests += 1;
      response.end('{}');
    });
    const file = join(folder, 'other.json');
    const { clientId: client_id, clientSecret: client_secret } = credentials;
    const base_url = `${other.url}/connect-api`;
    writeFileSync(file, JSON.stringify({ base_url, token_url: `${other.url}/token`, client_id, client_secret }));
    for (const [command, said] of [
      ['conform', /^Cannot find the token endpoint: --token-url must be given/],
      ['login', /^no token: is '.*' the URL of the service, or the issuer of its tokens\?\n/],
    ] as const) {
      const given = [command, '--url', server.url, '--credentials', file];
      const { code, stderr } = await runHere(given, environment);
      expect([code, stderr]).toEqual([command === 'conform' ? 2 : 1, expect.stringMatching(said)]);
    }
    expect(requests).toBe(0);
    other.server.close();
  });

  test.each(['0', 'many', '1e3', '-1', '1000000'])('if --max-requests is %s', async (number) => {
    await expectRefusal(
      [...args(), `--max-requests=${number}`],
      /^error: option '--max-requests .*It must be an integer from 1 to 999999, such as 200\n/,
    );
  });

  test('if --max-requests is too small for a token and a page', async () => {
    await expectRefusal([...args(), '--max-requests', '1'], /must suffice for a token and a page\n$/);
  });
});
