import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { hasTools } from '../../../../test/support/has-tools.ts';
import { instantOf, readWorkbook } from '../../../../test/support/read-workbook.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runCommand, startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { localDateTime } from '../../../../test/support/zoned.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../../client/test/faulty-proxy.ts';
import type { SubscriptionFindings } from '../../../contract/findings.ts';
import { directoryStatement, type TenantSql } from '../../../service/storage/store.ts';
import { environmentOf, environmentThrough } from '../sync/changing-report.ts';

const nowSeconds = Math.floor(Date.now() / 1000);
const rows = Array.from({ length: 45 }, (_, n) =>
  subscriptionRow({
    id: `id_${String(n).padStart(2, '0')}`,
    createdDate: nowSeconds - 86_400 * n - 60,
    status: n % 3 === 0 ? 'EXPIRED' : 'ACTIVE',
    email: n === 7 ? 'ada@example.com' : null,
  }),
);

/** Prints the text of the first cell of each row of a workbook. */
const readFirstCells = `
import json, sys, zipfile, xml.etree.ElementTree as tree
sheet = tree.fromstring(zipfile.ZipFile(sys.argv[1]).read("xl/worksheets/sheet1.xml"))
tag = lambda name: "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}" + name
print(json.dumps(["".join(row.find(tag("c")).itertext()) for row in sheet.iter(tag("row"))]))
`;

let folder: string;
let service: TestService;
let client: TestClient;
let token: string;
/** Logged in by the first test's profile. */
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-reader-'));
  service = await startService(await engines[0].openTestStore());
  const tenant = await service.createTenant('acme');
  client = await service.createClient(tenant, { clientId: 'acme-reporting' });
  await service.store.loadSubscriptions(tenant, rows);
  token = await service.accessToken(client);
  environment = { XDG_CONFIG_HOME: join(folder, 'config') };
  await logIn(environment);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const logIn = (variables: Record<string, string>, profile = 'default') =>
  runHere(['login', '--url', service.url, '--client-id', client.client_id, '--profile', profile], {
    ...variables,
    SUBREPORT_CLIENT_SECRET: client.client_secret,
  });
const run = (...args: string[]) => runHere(args, environment);
const sent = async (path: string) => (await service.get(path, token)).text();
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
const idsOf = (ndjson: string) => linesOf(ndjson).map((line) => (JSON.parse(line) as { id: string }).id);
const modeOf = (...path: string[]) => (statSync(join(folder, ...path)).mode & 0o777).toString(8);
const requestsOf = (route: string) => service.log.filter((line) => line.route === route).length;

describe('nothing', () => {
  test.each([
    ['list', []],
    ['list', ['--all', '-o', 'ndjson']],
    ['list', ['--json']],
    ['summary', ['--json']],
    ['export', ['-', '-o', 'csv']],
  ])('%s %j says why there is nothing', async (command, more) => {
    const { code, stderr } = await run(command, '--status', 'ACTVE', ...more);
    expect(code).toBe(0);
    expect(stderr).toContain("No subscription of yours has the status 'ACTVE': did you mean 'ACTIVE'?\n");
    expect((await run(command, '--status', 'ACTVE', '--quiet', ...more)).stderr).toBe('');
  });
});

describe('findings', () => {
  test('are a row for each kind, as a table, as CSV, and as the JSON of the service', async () => {
    const body = JSON.parse(await sent('/v1/subscription/findings')) as SubscriptionFindings;
    expect(JSON.parse((await run('findings', '--json')).stdout)).toEqual(body);
    const countOf = (kind: string) => body.findings.find((each) => each.kind === kind)?.count ?? -1;
    const table = await run('findings', '-o', 'table');
    expect(table.code).toBe(0);
    const [header, ...lines] = linesOf(table.stdout).filter((line) => !line.includes('subscriptions;'));
    expect(header).toMatch(/^FINDING +COUNT +SINCE +EXAMPLES$/);
    expect(lines.map((line) => line.split(/ +/).slice(0, 2))).toEqual(
      body.findings.map(({ kind, count }) => [kind, String(count)]),
    );
    expect(table.stdout + table.stderr).toContain(`45 subscriptions; ends before ${body.evaluated_at} have passed`);
    const csv = (await run('findings', '-o', 'csv')).stdout.split('\r\n');
    expect(csv[0]).toBe('kind,count,since,examples');
    expect(csv.find((line) => line.startsWith('device-on-two-sims,'))).toContain(`,${countOf('device-on-two-sims')},`);
  });
});

describe('login and profiles', () => {
  test('login stores the credentials for this user only, and whoami uses them', async () => {
    const { code, stdout } = await logIn(environment);
    expect([code, stdout]).toEqual([0, expect.stringContaining('which has 45 subscriptions')]);
    const paths = ['subreport', 'subreport/profiles', 'subreport/profiles/default.json'];
    expect(paths.map((path) => modeOf('config', path))).toEqual(['700', '700', '600']);
    const { stdout: said } = await run('whoami', '--json');
    expect(JSON.parse(said)).toMatchObject({ profile: 'default', client_id: 'acme-reporting', subscriptions: 45 });
    expect(modeOf('config', 'subreport/tokens/default.json')).toBe('600');
  });

  test('profiles are listed without their secrets', async () => {
    const { stdout } = await run('profiles', '--json');
    const profile = { profile: 'default', base_url: `${service.url}/connect-api`, client_id: 'acme-reporting' };
    expect(JSON.parse(stdout)).toEqual([profile]);
    expect((await run('profiles')).stdout).toMatch(/^default +http\S+ +acme-reporting$/m);
  });

  test('login with a wrong secret fails and stores nothing', async () => {
    const args = [
      'login',
      '--url',
      service.url,
      '--client-id',
      client.client_id,
      '--profile',
      'wrong',
      '--secret-stdin',
    ];
    const { code, stdout, stderr } = await runHere(args, environment, 'guessed\n');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/secret is not valid.*\nCorrelation id: \S+\n$/);
    expect(existsSync(join(folder, 'config/subreport/profiles/wrong.json'))).toBe(false);
  });

  test('login reads the JSON of client create from standard input', async () => {
    const args = ['login', '--url', service.url, '--credentials', '-', '--profile', 'piped', '--json'];
    const { code, stdout } = await runHere(args, environment, JSON.stringify(client));
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ profile: 'piped', subscriptions: 45 })]);
  });

  test('commands share one token', async () => {
    await run('token');
    const before = requestsOf('/oauth2/token');
    for (const args of [['list'], ['summary'], ['token']]) await run(...args);
    expect(requestsOf('/oauth2/token')).toBe(before);
  });

  test('logout revokes the tokens and removes the profile', async () => {
    await logIn(environment, 'short');
    const { stdout } = await run('token', '--profile', 'short');
    expect((await service.get('/v1/subscription', stdout.trim())).status).toBe(200);
    expect(await run('logout', '--profile', 'short')).toMatchObject({ code: 0, stdout: "Removed profile 'short'\n" });
    expect((await service.get('/v1/subscription', stdout.trim())).status).toBe(401);
    const { code, stderr } = await run('list', '--profile', 'short');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/login --profile short.* first, .*--profile: default/)]);
  });

  test('three variables replace a profile, and nothing is written', async () => {
    const config = join(folder, 'unused');
    const variables = { XDG_CONFIG_HOME: config, SUBREPORT_URL: service.url, SUBREPORT_CLIENT_ID: client.client_id };
    const complete = { ...variables, SUBREPORT_CLIENT_SECRET: client.client_secret };
    expect(await runHere(['list', '--size', '1'], complete)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('id_44'),
    });
    expect(existsSync(config)).toBe(false);
    const { code, stderr } = await runHere(['list'], variables);
    expect([code, stderr]).toEqual([2, expect.stringContaining('missing: SUBREPORT_CLIENT_SECRET')]);
  });
});

describe('reading a report in a pipe', () => {
  test('list writes the records that the service sends, one JSON object per line', async () => {
    const { code, stdout, stderr } = await run('list', '--status', 'ACTIVE', '--size', '3');
    expect(code).toBe(0);
    expect(stdout).toBe(await sent('/v1/subscription?status=ACTIVE&size=3&format=ndjson'));
    expect(stderr).toBe('1-3 of 30. Next page: subreport list --status ACTIVE --size 3 --page 2\n');
  });

  test('the next page that list names follows, up to the last one', async () => {
    const { stdout, stderr } = await run('list', '--size', '20', '--page', '3');
    expect(idsOf(stdout)).toEqual(['id_04', 'id_03', 'id_02', 'id_01', 'id_00']);
    expect(stderr).toBe('41-45 of 45\n');
  });

  test('csv and json are those of the service', async () => {
    const csv = await run('list', '-o', 'csv', '--quiet');
    expect(csv).toEqual({ code: 0, stdout: await sent('/v1/subscription?format=csv'), stderr: '' });
    const json = await run('list', '--json');
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(await sent('/v1/subscription')));
  });

  test('yes and no are values of a boolean option', async () => {
    const counts = [];
    for (const value of ['yes', 'No', 'true']) counts.push((await run('list', '--all', '--auto-renew', value)).stdout);
    const [yes = '', no, written] = counts;
    expect([idsOf(yes).length, no, written]).toEqual([45, '', yes]);
  });

  test('list --all writes every record once', async () => {
    const { stdout, stderr } = await run('list', '--all', '--size', '20');
    expect(idsOf(stdout).toSorted()).toEqual(rows.map(({ id }) => id));
    expect(stderr).toBe('45 of 45\n');
  });

  test('a relative date is shown as the instant that is sent', async () => {
    const { stdout, stderr } = await run('list', '--after', '7d', '--size', '2');
    const [, instant = ''] = /^--after (\S+Z)\n/.exec(stderr) ?? [];
    expect(Math.abs(Date.parse(instant) / 1000 - (nowSeconds - 7 * 86_400))).toBeLessThan(3_600);
    expect(idsOf(stdout)).toEqual(['id_06', 'id_05']);
    expect(stderr).toContain(`1-2 of 7. Next page: subreport list --after ${instant} --size 2 --page 2`);
  });

  test('an email address is found, and is in no URL that the service logs', async () => {
    const { stdout } = await run('list', '--email', 'ada@example.com');
    expect(idsOf(stdout)).toEqual(['id_07']);
    expect(service.logText()).not.toMatch(/ada(@|%40)example/);
  });

  test('show, summary and token write JSON for programs', async () => {
    expect(JSON.parse((await run('show', 'id_07', '--json')).stdout)).toMatchObject({ id: 'id_07', status: 'ACTIVE' });
    expect((await run('summary', '--by', 'status', '-o', 'csv')).stdout).toBe(
      'dimension,value,count,name\r\ntotal,,45,\r\nstatus,ACTIVE,30,\r\nstatus,EXPIRED,15,\r\n',
    );
    const products = JSON.parse((await run('summary', '--by', 'product-id', '-o', 'json')).stdout);
    expect(products).toMatchObject({ by: { 'product-id': [{ name: expect.any(String), count: 45 }] } });
    const { access_token } = JSON.parse((await run('token', '--json')).stdout) as { access_token: string };
    expect((await service.get('/v1/subscription', access_token)).status).toBe(200);
  });

  test('| head ends a list without an error message', async () => {
    const command = startCommand(['list', '--all', '--size', '1'], { environment });
    await untilWritten(command, 'id_44');
    command.child.stdout?.destroy();
    expect(await command.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('wrong use', () => {
  test('exits with 2 and shows every parameter that the service rejects, with the correlation id of its log', async () => {
    const { code, stdout, stderr } = await run('list', '--status', ',', '--size', '0');
    expect([code, stdout]).toEqual([2, '']);
    const [first, second, last = ''] = linesOf(stderr);
    expect([first, second]).toEqual([
      expect.stringMatching(/^Cannot use --status: .*current value is ','$/),
      expect.stringMatching(/^Cannot use --size: .*current value is '0'$/),
    ]);
    const id = last.replace('Correlation id: ', '');
    expect(service.log.some((line) => line.correlation_id === id)).toBe(true);
  });

  test.each([
    [['lst'], '(Did you mean list?)'],
    [['list', '--stats', 'ACTIVE'], '(Did you mean --status?)'],
    [['summary', '--by', 'product'], "did you mean 'product-id'?"],
    [['list', '--sort', 'createDate'], "did you mean 'createdDate'?"],
    [['list', '--size', '1', '--size', '2'], 'It must be given only once'],
    [['list', '--size', 'many'], "argument 'many' is invalid. It must be an integer"],
    [['list', '--after', 'soon', '--before', 'later'], "current value is 'later'\nCannot use --after"],
    [['changes', '--follow', '--json'], 'Cannot follow as JSON'],
    [['login', '--url', 'reports.example.com'], 'https://reports.example.com'],
    [['show', 'id_01', '--profile', '../x'], 'its name must be'],
    [
      ['show', 'changes'],
      "<id> must be that of a record, such as c3Vic2NyaXB0aW9uLTAwMDE=: current value is 'changes'",
    ],
    [['show', '..', '--history'], '<id> must be that of a record'],
  ])('%j exits with 2 and says why', async (args, said) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)]);
  });

  test('a subscription that does not exist exits with 1', async () => {
    const { code, stderr } = await run('show', 'nobody');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot find .*: current value is 'nobody'\nCorrelation id: \S+\n$/),
    ]);
  });
});

describe('export', () => {
  let target: string;
  beforeEach(() => {
    target = mkdtempSync(join(folder, 'export-'));
  });
  const inTarget = (name: string) => join(target, name);

  test('writes the whole report, in the format of the file name', async () => {
    const { code, stdout } = await run('export', inTarget('all.csv'), '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { file: inTarget('all.csv'), format: 'csv', rows: 45 }]);
    expect(readFileSync(inTarget('all.csv'), 'utf8')).toBe(await sent('/v1/subscription?all=true&format=csv'));
    const { stdout: ndjson, stderr } = await run('export', '-', '--status', 'EXPIRED');
    expect([linesOf(ndjson).length, stderr]).toEqual([15, '15 subscriptions, complete\n']);
    expect(readdirSync(target)).toEqual(['all.csv']);
  });

  test('.ndjson and .jsonl are NDJSON, and .gz compresses, whatever the case of the name', async () => {
    const ndjson = (await run('export', '-')).stdout;
    const expected = {
      'a.ndjson': ndjson,
      'b.JSONL': ndjson,
      'c.csv.gz': await sent('/v1/subscription?all=true&format=csv'),
      'd.jsonl.GZ': ndjson,
    };
    for (const [name, text] of Object.entries(expected)) {
      const { code, stderr } = await run('export', inTarget(name));
      const bytes = readFileSync(inTarget(name));
      expect([code, stderr]).toEqual([0, `45 subscriptions, complete: ${inTarget(name)}\n`]);
      expect(String(name.toLowerCase().endsWith('.gz') ? gunzipSync(bytes) : bytes)).toBe(text);
    }
  });

  test('--fields has the columns of its list in every format, and may be repeated', async () => {
    const fields = ['--fields', 'product.name,id', '--fields', 'expirationDate'];
    const query = 'fields=product.name,id,expirationDate';
    for (const format of ['csv', 'ndjson']) {
      const { stdout } = await run('export', '-', '-o', format, ...fields);
      const body = await sent(`/v1/subscription?all=true&format=${format}&${query}`);
      expect(stdout).toBe(body.replace(/\{"summary".*\n$/, ''));
    }
    const rows = (await sent(`/v1/subscription?size=3&format=csv&${query}`)).trimEnd().split('\r\n');
    const listed = await run('list', '--size', '3', '-o', 'csv', ...fields);
    expect([listed.stderr.split('\n')[0], listed.stdout.trimEnd().split('\r\n')]).toEqual([
      expect.stringContaining('1-3 of 45'),
      rows,
    ]);
    const table = (await run('list', '--size', '1', '-o', 'table', ...fields)).stdout.split('\n');
    expect(table[0]?.trim().split(/\s+/)).toEqual(['product.name', 'id', 'expirationDate']);
    await run('export', inTarget('f.xlsx'), ...fields);
    const [headings] = readWorkbook(readFileSync(inTarget('f.xlsx')));
    expect(headings?.map(({ value }) => value)).toEqual(['Product', 'Id', 'Ends (UTC)']);
    const [id = ''] = idsOf((await run('export', '-')).stdout);
    const { stdout } = await run('show', id, '--json', '--fields', 'id,product.id');
    expect(Object.keys(JSON.parse(stdout))).toEqual(['id', 'product']);
    const change = JSON.parse((await run('changes', '--fields', 'iccid,status')).stdout.split('\n')[0] ?? '');
    expect(Object.keys(change)).toEqual(['status', 'iccid']);
    const [header] = (await run('changes', '-o', 'csv', '--fields', 'iccid', '--before')).stdout.split('\r\n');
    expect(header).toBe('kind,committed_at,import_id,id,iccid,before.id,before.iccid');
    expect((await run('changes', '--follow', '--fields', 'iccid')).stderr).toContain('--fields');
    const { code, stderr } = await run('list', '--fields', 'iccd');
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining("did you mean 'iccid'?")]);
    expect(code).not.toBe(0);
  });

  test('--zone counts local days, resolves local dates, and says as what', async () => {
    const dates = ['--created-from', '2024-03-31', '--created-to', '2024-04-01', '--zone', 'Europe/Berlin'];
    const { stdout, stderr } = await run('summary', '--by', 'day', '--json', ...dates);
    expect([JSON.parse(stdout).zone, stderr]).toEqual([
      'Europe/Berlin',
      expect.stringContaining('2024-03-30T23:00:00Z'),
    ]);
    const wrong = await run('summary', '--zone', 'Europe/Berln');
    expect(wrong.stderr).toContain("did you mean 'Europe/Berlin'?");
  });

  test('--dates local writes the dates of CSV and of a workbook in --zone', async () => {
    const zone = ['--zone', 'Asia/Kathmandu', '--dates', 'local', '--fields', 'id,createdDate'];
    const utc = (await run('export', '-', '-o', 'csv', '--fields', 'id,createdDate')).stdout;
    const local = utc.replaceAll(/2\d{3}-.*Z/g, (date) => localDateTime(date, 'Asia/Kathmandu'));
    expect(local).toMatch(/\+05:45\r\n$/);
    expect((await run('export', '-', '-o', 'csv', ...zone)).stdout).toBe(local);
    const link = ['--query', 'zone=Asia/Kathmandu&dates=local&fields=id,createdDate&sort=createdDate'];
    const linked = await run('export', '-', '-o', 'csv', ...link);
    expect([linked.stdout, linked.stderr]).toEqual([local, expect.stringContaining('dates local')]);
    await run('export', inTarget('a.xlsx'), ...zone);
    const [headings, ...rows] = readWorkbook(readFileSync(inTarget('a.xlsx')));
    expect(headings?.map(({ value }) => value)).toEqual(['Id', 'Created (Asia/Kathmandu)']);
    const [, ...lines] = local.trimEnd().split('\r\n');
    expect(rows.map(([id, cell]) => `${id?.value},${cell && instantOf(cell).slice(0, 19)}+05:45`)).toEqual(lines);
  });

  test.each([
    [['export', '-', '-o', 'csv', '--dates', 'local'], ['--zone Europe/Berlin']],
    [
      ['export', '-', '--zone', 'Europe/Berlin', '--dates', 'local'],
      ['-o csv or xlsx', 'current value is ndjson'],
    ],
    [
      ['export', 'a.parquet', '--dates', 'local'],
      ['--zone Europe/Berlin', '-o csv or xlsx'],
    ],
    [['export', '-', '--dates', 'lokal'], ["did you mean 'local'?"]],
  ])('%j is refused, and the error says what is missing', async (args, parts) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    for (const part of parts) expect(stderr).toContain(part);
  });

  test('.xlsx is a workbook with the rows of the report, also for another reader of ZIP and XML', async () => {
    const ids = idsOf((await run('export', '-')).stdout);
    for (const args of [[inTarget('a.xlsx')], [inTarget('b'), '-o', 'xlsx']]) {
      const { code, stderr } = await run('export', ...args);
      expect([code, stderr]).toEqual([0, `45 subscriptions, complete: ${args[0]}\n`]);
      const sheet = readWorkbook(readFileSync(args[0] ?? ''));
      expect(sheet.slice(1).map(([id]) => id?.value)).toEqual(ids);
    }
    if (!hasTools('python3')) return;
    const { stdout } = spawnSync('python3', ['-c', readFirstCells, inTarget('a.xlsx')], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual(['Id', ...ids]);
  });

  test('another extension exits with 2, names the known ones and writes no file, unless -o says the format', async () => {
    for (const name of ['out.xls', 'out.xlsx.gz', 'out.json', 'out', 'out.gz', 'csv']) {
      expect(await run('export', inTarget(name))).toEqual({
        code: 2,
        stdout: '',
        stderr: `Cannot export to '${inTarget(name)}': its name must end in .csv, .ndjson or .jsonl, optionally followed by .gz, or in .parquet or .xlsx, or --output must be one of csv, ndjson, parquet, xlsx\n`,
      });
    }
    expect(readdirSync(target)).toEqual([]);
    expect((await run('export', inTarget('out.txt'), '-o', 'csv')).code).toBe(0);
    expect(readFileSync(inTarget('out.txt'), 'utf8')).toBe(await sent('/v1/subscription?all=true&format=csv'));
  });

  test('the error of a file that cannot be written names that file', async () => {
    const missing = join(target, 'missing', 'all.csv');
    expect(await run('export', missing)).toEqual({
      code: 1,
      stdout: '',
      stderr: `Cannot write '${missing}': it must be a file that this user can write, in an existing folder (ENOENT)\n`,
    });
  });

  describe('through a proxy that stops in the middle', () => {
    let proxy: FaultyProxy;
    let variables: Record<string, string>;
    /** What happens to an export. */
    let fault: Fault;
    beforeAll(async () => {
      proxy = await startFaultyProxy(service.url, ({ path }) => (path.includes('all=true') ? fault : undefined));
      variables = environmentThrough(proxy.url, service, client, folder);
    });
    afterAll(() => proxy.close());

    const withTotal = (total?: string): Fault => ({
      edit(body, headers) {
        if (total === undefined) delete headers['x-total-count'];
        else headers['x-total-count'] = total;
        return body;
      },
    });

    test('a report whose number a proxy has removed is complete, and no number is made up', async () => {
      fault = withTotal();
      for (const name of ['all.csv', 'all.xlsx']) {
        const { code, stderr } = await runHere(['export', inTarget(name)], variables);
        expect([code, stderr]).toEqual([0, `The report is complete: ${inTarget(name)}\n`]);
      }
      const { stdout } = await runHere(['export', inTarget('all.csv'), '--json'], variables);
      expect(JSON.parse(stdout)).toEqual({ file: inTarget('all.csv'), format: 'csv' });
      expect(readFileSync(inTarget('all.csv'), 'utf8')).toBe(await sent('/v1/subscription?all=true&format=csv'));
      expect(readWorkbook(readFileSync(inTarget('all.xlsx')))).toHaveLength(46);
    });

    test('a workbook has at most as many rows as a sheet', async () => {
      const codes: (number | null)[] = [];
      for (const total of ['1048575', '1048576']) {
        fault = withTotal(total);
        codes.push((await runHere(['export', inTarget('all.xlsx')], variables)).code);
      }
      expect([codes, readdirSync(target)]).toEqual([[0, 2], ['all.xlsx']]);
    });

    test.each(['all.csv', 'all.csv.gz', 'all.xlsx'])(
      'a truncated export to %s exits with 1 and leaves the old file',
      async (name) => {
        fault = 'cut';
        writeFileSync(inTarget(name), 'old');
        const { code, stderr } = await runHere(['export', inTarget(name)], variables);
        expect([code, stderr]).toEqual([1, expect.stringContaining('Correlation id:')]);
        expect([readdirSync(target), readFileSync(inTarget(name), 'utf8')]).toEqual([[name], 'old']);
      },
    );

    test('Ctrl-C leaves the old file and exits with 130', async () => {
      fault = 'stall';
      writeFileSync(inTarget('all.csv'), 'old');
      const command = startCommand(['export', inTarget('all.csv')], { environment: variables });
      await eventually(() => expect(readdirSync(target)).toHaveLength(2));
      command.child.kill('SIGINT');
      expect(await command.ended).toEqual({ code: 130, stdout: '', stderr: '' });
      expect([readdirSync(target), readFileSync(inTarget('all.csv'), 'utf8')]).toEqual([['all.csv'], 'old']);
    });
  });
});

describe('changes', () => {
  test('a second run with the token of the first lists only what is new; --follow waits for more', async () => {
    const first = await run('changes');
    expect(idsOf(first.stdout)).toHaveLength(45);
    const [, token = ''] = /--since (\S+)/.exec(first.stderr) ?? [];
    const second = await run('changes', '--since', token);
    expect(second).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(/^0 changes\. Next changes: /) });
    const following = startCommand(['changes', '--since', token, '--follow', '--every', '1'], { environment });
    const tenant = await service.createTenant('acme');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id_new' })]);
    await untilWritten(following, 'id_new');
    following.child.kill('SIGINT');
    const { code, stdout } = await following.ended;
    expect([code, idsOf(stdout)]).toEqual([130, ['id_new']]);
    await service.store.deleteSubscriptions(tenant, ['id_new']);
  });

  test('--follow ends with 1 once the change token is no longer valid, and writes nothing', async () => {
    const other = await service.createClient(await service.createTenant('other'));
    const { stderr } = await runHere(['changes', '--since', 'now'], environmentOf(service, other));
    const [, foreign = ''] = /--since (\S+)/.exec(stderr) ?? [];
    expect(foreign).not.toBe('');
    const followed = startCommand(['changes', '--follow', '--since', foreign], { environment });
    const { code, stdout, stderr: said } = await followed.ended;
    expect([code, stdout, said]).toEqual([
      1,
      '',
      expect.stringMatching(/^Cannot follow the changes: .*Read all changes/),
    ]);
  });

  test('--before shows what differs in a table, and the whole former record as CSV', async () => {
    const [, since = ''] = /--since (\S+)/.exec((await run('changes', '--since', 'now')).stderr) ?? [];
    const tenant = await service.createTenant('acme');
    const { record: _record, ...columns } = rows[1] ?? subscriptionRow({ id: 'id_01' });
    const changed = subscriptionRow({ ...columns, status: 'DEPLETED', productId: 'product-2' });
    await service.store.loadSubscriptions(tenant, [changed]);
    await service.store.deleteSubscriptions(tenant, ['id_02']);
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id_added' })]);
    const { stdout } = await run('changes', '--since', since, '--before', '-o', 'table');
    const at = '\\d{4}-\\d{2}-\\d{2}T\\S{9}';
    expect(linesOf(stdout)).toEqual([
      expect.stringMatching(/^CHANGE +COMMITTED +ID +DIFFERENCES$/),
      expect.stringMatching(
        new RegExp(`^changed +${at} +id_01 +status: ACTIVE → DEPLETED, product.id: product-1 → product-2$`),
      ),
      expect.stringMatching(new RegExp(`^removed +${at} +id_02$`)),
      expect.stringMatching(new RegExp(`^added +${at} +id_added$`)),
    ]);
    const csv = linesOf((await run('changes', '--since', since, '--before', '-o', 'csv')).stdout);
    const [header = [], first = []] = csv.map((line) => line.split(','));
    const cell = (name: string) => first[header.indexOf(name)];
    expect([cell('kind'), cell('id'), cell('status'), cell('before.id'), cell('before.status')]).toEqual([
      'changed',
      'id_01',
      'DEPLETED',
      'id_01',
      'ACTIVE',
    ]);
    const history = linesOf((await run('show', 'id_01', '--history', '-o', 'csv')).stdout);
    expect(history.slice(1).map((line) => line.split(',')[3])).toEqual(['DEPLETED', 'ACTIVE']);
    await service.store.loadSubscriptions(tenant, rows);
    await service.store.deleteSubscriptions(tenant, ['id_added']);
  });

  test('a report, its summary and a record are read as of a day or an instant, and the changes since one', async () => {
    const tenant = await service.createTenant('past');
    const own = environmentOf(service, await service.createClient(tenant));
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', status: 'PENDING' })]);
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', status: 'ACTIVE' })]);
    // the first change was two days ago, the second one an hour ago
    const [first, second] = [2 * 86_400, 3_600].map((ago) => Math.floor(Date.now() / 1000) - ago);
    const sql = 'update subscription_commit set committed_at = $3 where tenant_id = $1 and revision = $2';
    const times = [
      [1, first ?? 0],
      [2, second ?? 0],
    ].map((values) => ({ sql: sql as TenantSql, values }));
    await service.store.writeTenant(tenant, times);
    const since = 'update tenant set history_from_at = $2, history_at = $3 where id = $1';
    await service.store.writeDirectory([directoryStatement(since, [tenant, first ?? 0, second ?? 0])]);
    const day = new Date(((first ?? 0) + 86_400) * 1000).toISOString().slice(0, 10);
    const file = join(folder, 'past.csv');
    for (const [asOf, status] of [
      [day, 'PENDING'],
      ['1d', 'PENDING'],
      ['1', 'PENDING'],
      ['2', 'ACTIVE'],
    ] as const) {
      const exported = await runHere(['export', file, '--as-of', asOf, '--json'], own);
      expect(exported).toMatchObject({ code: 0 });
      expect(readFileSync(file, 'utf8')).toContain(`,${status},`);
      const { stdout: summary } = await runHere(['summary', '--as-of', asOf, '-o', 'json'], own);
      expect(JSON.parse(summary).by.status).toEqual([{ value: status, count: 1 }]);
      const { stdout: record } = await runHere(['show', 'a', '--as-of', asOf, '-o', 'json'], own);
      expect(JSON.parse(record)).toMatchObject({ status });
    }
    for (const moment of [day, '1d']) {
      const { stdout } = await runHere(['changes', '--since', moment, '--before', '-o', 'ndjson'], own);
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'changed', status: 'ACTIVE', before: { status: 'PENDING' } });
    }
    for (const [command, ...to] of [['export', file, '-o', 'csv'], ['summary'], ['show', 'a']])
      expect(await runHere([command ?? '', ...to, '--as-of', 'now'], own)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain(',ACTIVE,');
    expect((await runHere(['list', '--help'], own)).stdout).not.toContain('--as-of <');
    const none = await runHere(['changes', '--since', day, '--kind', 'removed', '-o', 'ndjson'], own);
    expect(none).toMatchObject({ code: 0, stdout: '' });
    const early = await runHere(['export', file, '--as-of', '7d'], own);
    expect(early).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('within the kept history, which begins at'),
    });
  });

  test('the changes since a date before the history begin with it, and a note says so', async () => {
    const tenant = await service.createTenant('first-day');
    const own = environmentOf(service, await service.createClient(tenant));
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', status: 'PENDING' })]);
    const changes = (...args: string[]) => runHere(['changes', '--before', '-o', 'ndjson', ...args], own);
    for (const since of ['yesterday', '7d', '2026-01-01']) {
      const { code, stdout, stderr } = await changes('--since', since);
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ id: 'a', kind: 'added' })]);
      expect(stderr).toMatch(/The history begins at \S+Z: these are the changes since then/);
    }
    const summary = await runHere(['changes', '--since', 'yesterday', '--summary', '-o', 'json'], own);
    expect(summary).toMatchObject({ code: 0, stderr: expect.stringContaining('The history begins at') });
    expect(JSON.parse(summary.stdout)).toMatchObject({ total: 1 });
    // no note can say that changes may be missing
    expect(await changes('--since', 'yesterday', '--quiet')).toMatchObject({ code: 1, stdout: '' });
    expect(await changes('--since', '2026-01-01T00:00:00Z')).toMatchObject({ code: 1, stdout: '' });
    const following = startCommand(['changes', '--follow', '--since', 'yesterday', '--every', '1'], {
      environment: own,
    });
    await untilWritten(following, '"id":"a"');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'b' })]);
    await untilWritten(following, '"id":"b"');
    following.child.kill('SIGINT');
    const { code, stdout, stderr } = await following.ended;
    expect([code, idsOf(stdout)]).toEqual([130, ['a', 'b']]);
    expect(stderr.match(/The history begins at \S+Z: these are the changes since then/g)).toHaveLength(1);
    const quiet = ['changes', '--follow', '--quiet'];
    expect(await runHere([...quiet, '--since', 'yesterday'], own)).toMatchObject({ code: 1, stdout: '' });
    const instant = await runHere([...quiet, '--since', '2026-01-01T00:00:00Z'], own);
    expect(instant).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('which begins at') });
  });

  test('an invalid change token exits with 2', async () => {
    expect(await run('changes', '--since', 'nonsense')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('lists of a file', () => {
  const idsFile = (content: string): string => {
    const file = join(folder, `ids-${crypto.randomUUID()}.txt`);
    writeFileSync(file, content);
    return file;
  };
  const idsIn = (stdout: string): string[] =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith('{"id"'))
      .map((line) => JSON.parse(line).id);

  test('list and export read them, and say on standard error what was not found', async () => {
    const file = idsFile('\ufeffid\r\n"id_03"\r\nnobody\r\nid_07\r\n\r\nid_03\r\n');
    const said = `--id-file: 3 ids, without the header 'id', 1 repeated value\n`;
    const missing = '--id-file: 3 ids, 1 unknown:\n  nobody\n';
    const listed = await run('list', '--id-file', file, '--size', '1', '-o', 'ndjson');
    expect([listed.code, idsIn(listed.stdout)]).toEqual([0, ['id_07']]);
    expect(listed.stderr).toContain(said);
    expect(listed.stderr).toContain(`1-1 of 2. Next page: subreport list --size 1 --id-file ${file} --page 2`);
    expect(listed.stderr).toContain(missing);
    const all = await run('list', '--id-file', file, '--all', '-o', 'ndjson', '--status', 'ACTIVE');
    expect([all.code, idsIn(all.stdout), all.stderr]).toEqual([0, ['id_07'], expect.stringContaining(missing)]);
    const exported = await run('export', '-', '--id-file', file);
    expect([exported.code, idsIn(exported.stdout)]).toEqual([0, ['id_07', 'id_03']]);
    expect(exported.stderr).toContain(missing);
    const target = join(folder, 'listed.csv');
    const json = await run('export', target, '--id-file', file, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ rows: 2, not_found: { id: ['nobody'] } });
  });

  test('- is standard input, and quiet says nothing', async () => {
    const { code, stdout, stderr } = await runCommand(['export', '-', '--quiet', '--id-file', '-'], {
      environment,
      input: 'id_01\nid_44\nnobody\n',
    });
    expect([code, idsIn(stdout), stderr]).toEqual([0, ['id_44', 'id_01'], '']);
  });

  test('invalid files exit with 2 and a sentence for each mistake', async () => {
    const cases: [string[], string[]][] = [
      [
        ['--id-file', idsFile('a/b\n'), '--iccid-file', idsFile('')],
        ['line 1 must be', 'must have a value'],
      ],
      [['--id-file', idsFile('a'), '--id', 'b'], ['must be given without --id']],
      [['--id-file', '-', '--iccid-file', '-'], ['only one of the files may be -']],
      [['--id-file', join(folder, 'none')], ['it must be a file that this user can read (ENOENT)']],
      [['--id-file', '/dev/zero'], ["Cannot read '/dev/zero': it must have at most 4,194,304 bytes"]],
    ];
    for (const [given, rules] of cases) {
      const { code, stderr } = await run('list', ...given);
      expect([code, stderr]).toEqual([2, expect.stringContaining(rules[0] ?? '')]);
      for (const rule of rules) expect(stderr).toContain(rule);
    }
  });
});
