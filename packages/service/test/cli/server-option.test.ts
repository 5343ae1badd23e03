import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { exampleCsv } from '../../../../tools/openapi/examples.ts';

/** A store without a service, and the same commands against a service with another store. */
describe('--server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  let local: Awaited<ReturnType<typeof openSqlite>>;
  let service: TestService;
  let server: string;
  let token: string;
  // the store of a service of tests has no budget
  const here = (...args: string[]) => runHere(args, { ...local.environment, TENANT_STORAGE_MAX_MIB: '0' });
  const there = (...args: string[]) =>
    runHere([...args, '--server', server], { SUBREPORT_OPERATOR_TOKEN: token, PORT: 'no setting of the service' });

  beforeAll(async () => {
    local = await openSqlite();
    const opened = await openSqlite();
    const port = await freePort();
    server = `http://127.0.0.1:${port}`;
    service = await startService(opened, { MANAGEMENT_PORT: String(port) });
    const create = ['operator', 'create', '--name', 'there', '--json', '--scopes'];
    const scopes = 'operator:read,operator:write,subscription:write';
    token = JSON.parse((await runHere([...create, scopes], opened.environment)).stdout).token;
    await here(...create, scopes);
  });
  afterAll(async () => {
    for (const listener of listeners) listener.close();
    await service.close();
    await local.close();
    rmSync(folder, { recursive: true });
  });

  const ids = ['c3ViMQ', 'c3ViMg', 'c3ViMw'];
  const rows = file('rows.ndjson', `${ids.map((id) => `${subscriptionRow({ id }).record}\n`).join('')}{}\n`);
  const empty = file('empty.txt', '');
  const fewer = file('fewer.ndjson', `${subscriptionRow({ id: 'c3ViMQ' }).record}\n`);
  const table = file('table.csv', exampleCsv + exampleCsv.split('\r\n')[1]?.replace('8944500102198304826', 'x'));
  const one = ['--client-id', 'acme-reporting'];

  /** The commands in their order: each uses what earlier ones created. */
  const commands: readonly (readonly string[])[] = [
    ['tenant', 'create', 'acme'],
    ['tenant', 'create', 'acme'],
    ['client', 'create', '--tenant', 'acme', ...one],
    ['client', 'create', '--tenant', 'unknown', ...one],
    ['client', 'update', ...one, '--scopes', 'subscription:read', '--rate-limit', '600'],
    ['client', 'update', ...one, '--rate-limit', 'default', '--refresh-token-use', 'reuse'],
    ['client', 'rotate', ...one, '--overlap-hours', '2', '--revoke-tokens'],
    ['client', 'show', ...one, '--tenant', 'acme'],
    ['client', 'show', ...one, '--tenant', 'other'],
    ['client', 'list', '--tenant', 'acme'],
    ['client', 'sessions', ...one],
    ['client', 'revoke-tokens', ...one],
    ['client', 'disable', ...one],
    ['client', 'enable', ...one],
    ['import', rows, '--tenant', 'acme', '--dry-run'],
    ['import', rows, '--tenant', 'acme'],
    ['import', fewer, '--tenant', 'acme', '--replace'],
    ['import', table, '--tenant', 'acme'],
    ['imports', 'list', '--tenant', 'acme', '--result', 'ok'],
    ['subscription', 'delete', '--tenant', 'acme', '--id', 'c3ViMQ', 'dW5rbm93bg'],
    ['subscription', 'delete', '--tenant', 'acme', '--file', empty],
    ['tenant', 'list'],
    ['keys', 'rotate', '--purpose', 'refresh'],
    ['keys', 'list'],
    ['operator', 'list'],
    ['operator', 'create', '--name', 'billing', '--expires-days', '90'],
    ['operator', 'revoke', 'op-000000000000'],
    ['audit', '--action', 'client.rotate'],
    ['doctor'],
    ['client', 'delete', ...one],
    ['tenant', 'delete', 'acme', '--yes'],
  ];

  test('every command prints the same JSON against a server as on the store', async () => {
    for (const command of commands) {
      const [ours, theirs] = [await here(...command, '--json'), await there(...command, '--json')];
      const what = command.join(' ');
      expect([what, theirs.code, generalize(theirs.stdout)]).toEqual([what, ours.code, generalize(ours.stdout)]);
    }
  });

  test.each([
    { args: ['subscription', 'delete', '--tenant', 'acme', '--email', ''], said: "'email': it must be an email" },
    { args: ['client', 'create', '--tenant', 'acme', '--name', ''], said: "'name': it must be" },
    { args: ['client', 'create', '--tenant', 'acme', '--name', 'x'.repeat(5_000)], said: "'name': it must be" },
    { args: ['operator', 'create', '--name', ''], said: "'name': it must be a string of 1 to 100" },
    { args: ['audit', '--tenant', 'é', '--actor', 'é'], said: "'tenant'" },
    { args: ['client', 'show', '--client-id', 'é'], said: 'client_id must be 1 to 255', code: 1 },
  ])(
    'a wrong input of $args.0 $args.1 is refused in the same words on the store ($said)',
    async ({ args, said, code = 2 }) => {
      const [ours, theirs] = [await here(...args), await there(...args)];
      expect(ours).toEqual({ code, stdout: '', stderr: expect.stringContaining(said) });
      expect(theirs).toEqual({ ...ours, stderr: expect.stringContaining(`${ours.stderr}Correlation id: `) });
    },
  );

  test('an import that was sent is in the history, with its rejected rows', async () => {
    await there('tenant', 'create', 'shown');
    const imported = JSON.parse((await there('import', rows, '--tenant', 'shown', '--json')).stdout);
    const shown = JSON.parse((await there('imports', 'show', imported.import_id, '--json')).stdout);
    expect(shown).toMatchObject({ tenant: 'shown', via: 'http', rejected: 1, actor: { name: 'there' } });
    expect((await there('imports', 'errors', imported.import_id)).stdout).toMatch(/^\{"line":4,.*\}\n$/);
    const text = await there('import', rows, '--tenant', 'shown');
    expect([text.code, text.stdout]).toEqual([
      1,
      expect.stringMatching(/^Tenant shown: loaded with rejects: 4 rows read in .*1 rejected\.\n/),
    ]);
    expect(text.stderr).toMatch(/^line 4: /);
  });

  test('the audit log of a server is printed from an id on, oldest first', async () => {
    const { stdout } = await there('audit', '--ndjson', '--action', 'operator.create');
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    const later = await there('audit', '--ndjson', '--action', 'operator.create', '--after', String(ids[0]));
    expect(later.stdout).toBe(stdout.slice(stdout.indexOf('\n') + 1));
  });

  test('the URL and the token may come from variables, the token from a file', async () => {
    const path = file('token', `${token}\n`);
    const environment = { SUBREPORT_SERVER: `${server}/`, SUBREPORT_OPERATOR_TOKEN_FILE: path };
    const listed = await runHere(['operator', 'list'], environment);
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('there')]);
    const onStore = await runHere(['operator', 'list', '--server='], { ...environment, ...local.environment });
    expect(onStore.stdout).not.toBe(listed.stdout);
  });

  test('all sentences of an error and its correlation id are printed', async () => {
    const { code, stderr } = await there('audit', '--tenant', 'é', '--actor', 'é');
    expect([code, stderr.split('\n')]).toEqual([
      2,
      [
        expect.stringContaining("'tenant'"),
        expect.stringContaining("'actor'"),
        expect.stringMatching(/^Correlation id: [\w-]{36}$/),
        '',
      ],
    ]);
    const unknown = await there('client', 'show', '--client-id', 'nobody');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/nobody.*\nCorrelation id: .*\n$/)]);
  });

  test.each([
    {
      refused: 'http to another machine',
      args: ['tenant', 'list', '--server', 'http://reports.internal:9464'],
      fault: /--server: .*https/,
    },
    {
      refused: 'a user name in the URL',
      args: ['tenant', 'list', '--server', 'https://ada:pw@reports.internal'],
      fault: /--server: .*user name/,
    },
    {
      refused: '--errors with --server',
      args: ['import', rows, '--tenant', 'acme', '--errors', 'rejected.ndjson', '--server', 'https://x'],
      fault: /--errors: .*--server/,
    },
    {
      refused: '--repair with --server',
      args: ['doctor', '--repair', '--server', 'https://x'],
      fault: /--repair: .*--server/,
    },
    {
      refused: '--server of a command that needs the machine',
      args: ['config', '--server', 'https://x'],
      fault: /unknown option '--server'/,
    },
  ])('$refused is refused', async ({ args, fault }) => {
    const { code, stderr } = await runHere(args, { SUBREPORT_OPERATOR_TOKEN: token });
    expect([code, stderr]).toEqual([2, expect.stringMatching(fault)]);
    expect(stderr).not.toContain(':pw');
  });

  test('without a well-formed token nothing is sent, and the token is not printed', async () => {
    const wrong = 'sro_tooshort';
    const { code, stderr } = await runHere(['tenant', 'list', '--server', server], { SUBREPORT_OPERATOR_TOKEN: wrong });
    expect([code, stderr]).toEqual([2, expect.stringContaining('SUBREPORT_OPERATOR_TOKEN')]);
    expect(stderr).not.toContain(wrong);
  });

  const newTenant = {
    ...{ tenant: 'acme', created_at: '2026-11-01T00:00:00Z', records: 0, revision: 0, deleting_since: null },
    ...{ last_import: null, last_good_import_at: null, columns: null, storage: { total: 0, budget: null } },
  };

  test('a response without a member of its operation is refused', async () => {
    const { storage: _storage, ...older } = newTenant;
    const url = await listen((_request, response) => response.end(JSON.stringify(older)));
    const environment = { SUBREPORT_OPERATOR_TOKEN: token, SUBREPORT_SERVER: url };
    const { code, stderr } = await runHere(['tenant', 'create', 'acme'], environment);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot use the response of .*: its body\.storage must be given/),
    ]);
  });

  test('a service that is not available is named with its sentences, and is not asked again', async () => {
    let requests = 0;
    const url = await listen((_request, response) => {
      requests += 1;
      const problem = { type: 'UNAVAILABLE', messages: ['Cannot create the tenant: try again'], correlation_id: 'abc' };
      response.writeHead(503, { 'retry-after': '0' }).end(JSON.stringify(problem));
    });
    const environment = { SUBREPORT_OPERATOR_TOKEN: token, SUBREPORT_SERVER: url };
    const { code, stderr } = await runHere(['tenant', 'create', 'acme'], environment);
    expect([code, requests, stderr]).toEqual([1, 1, 'Cannot create the tenant: try again\nCorrelation id: abc\n']);
  });

  test.each([
    ['a deletion', ['client', 'delete', ...one]],
    ['a creation', ['tenant', 'create', 'acme']],
  ])('%s whose connection is lost says that it may be done, and is not sent again', async (_title, command) => {
    let requests = 0;
    const url = await listen((request) => {
      requests += 1;
      request.socket.destroy();
    });
    const environment = { SUBREPORT_OPERATOR_TOKEN: token, SUBREPORT_SERVER: url };
    const { code, stderr } = await runHere(command, environment);
    expect([code, requests]).toEqual([1, 1]);
    expect(stderr).toMatch(/^Cannot reach .*\nThe server may have received the request\.\nCorrelation id: /);
  });

  test('a refused connection has no correlation id to look for, and no doubt', async () => {
    const environment = { SUBREPORT_OPERATOR_TOKEN: token, SUBREPORT_SERVER: `http://127.0.0.1:${await freePort()}` };
    const { code, stderr } = await runHere(['tenant', 'create', 'acme'], environment);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot reach [^\n]*the connection was refused[^\n]*\n$/),
    ]);
  });

  test('the page of a proxy is named with its status', async () => {
    const url = await listen((_request, response) => response.writeHead(302, { location: '/login' }).end('<html>'));
    const environment = { SUBREPORT_OPERATOR_TOKEN: token, SUBREPORT_SERVER: url };
    const { code, stderr } = await runHere(['tenant', 'list'], environment);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/operator's API .*status was 302\nCorrelation id: /)]);
  });

  const listeners: Server[] = [];
  async function listen(handle: RequestListener): Promise<string> {
    const listener = createServer(handle).listen(0, '127.0.0.1');
    listeners.push(listener);
    await new Promise((resolve) => listener.once('listening', resolve));
    return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  }
});

/** The output without what differs: generated ids, times, secrets, and the actor. */
const generalize = (stdout: string): string =>
  stdout
    .replaceAll(/"secrets":\[[^\]]*\],?/g, '') // those of one second are in any order
    .replaceAll(/"actor":\{[^}]*\},?/g, '')
    .replaceAll(
      /"(address|via|correlation_id|last_used_at|client_secret|token|kid|id|(?:last_)?import_id)":(null|\d+|"[^"]*"),?/g,
      '',
    )
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replaceAll(/"seconds":[\d.]+/g, '"seconds":0');
