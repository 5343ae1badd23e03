import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { listAuditEntries } from '../../storage/tables/audit-entry.ts';
import { setColumnsStatement } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const api = '/operator/v1';
const mapping = {
  columns: { id: 'SUB', iccid: 'SIM', createdDate: 'T', activationDate: 'T', expirationDate: 'T', status: 'ST' },
  constants: { 'product.id': 'p30', device_id: '', auto_renew: 'false' },
  values: { status: { A: 'ACTIVE' } },
};
const csv = 'SUB,SIM,T,ST\n1,8944500102198304826,2024-05-01 08:00:00+00,A\n';

describe.each(drawn)('the mapping of columns of a tenant on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  const create = async (tenant: string): Promise<void> => {
    expect((await management.send('POST', `${api}/tenants`, { token, body: { tenant } })).status).toBe(201);
  };
  const save = (tenant: string, columns: unknown) =>
    management.send('PUT', `${api}/tenants/${tenant}/columns`, { token, body: { columns } });
  const load = (tenant: string, query = '?columns=saved') =>
    management.app.inject({
      method: 'PUT',
      url: `${api}/tenants/${tenant}/subscriptions${query}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv', host: '127.0.0.1' },
      body: csv,
    });
  const newestOf = async (tenant: string) =>
    (await management.send('GET', `${api}/imports?tenant=${tenant}&limit=1`, { token })).body.data[0];
  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
  });
  afterAll(() => management.close());

  test('is saved with an entry of the audit log, and used by a load, whose history has it', async () => {
    await create('acme');
    expect((await load('acme')).json()).toMatchObject({
      status: 400,
      detail: expect.stringMatching(
        /must have one: current value is none for 'acme'; send the mapping itself .*\(PUT .*\/columns\)$/,
      ),
      errors: [{ parameter: 'columns', value: 'saved', rule: expect.stringContaining('no saved one') }],
    });
    const saved = await save('acme', JSON.stringify(mapping));
    expect([saved.status, JSON.parse(saved.body.columns)]).toEqual([200, mapping]);
    const { entries } = await listAuditEntries(management.context.store, {}, { limit: 1 });
    expect(entries[0]).toMatchObject({ action: 'tenant.map-columns', tenant: 'acme', outcome: 'ok' });
    expect(JSON.parse(entries[0]?.details ?? '')).toEqual({
      columns: Object.keys(mapping.columns),
      constants: Object.keys(mapping.constants),
      values: Object.keys(mapping.values),
    });
    expect((await load('acme')).json()).toMatchObject({ outcome: 'loaded', inserted: 1, skipped: 0 });
    const newest = await newestOf('acme');
    expect([newest.options, JSON.parse(newest.columns)]).toEqual([['columns'], mapping]);
  });

  test('is that of its tenant alone, and is removed by an empty one', async () => {
    await create('first');
    await create('second');
    await save('first', JSON.stringify(mapping));
    expect((await load('second')).statusCode).toBe(400);
    expect((await management.send('GET', `${api}/tenants/second`, { token })).body.columns).toBeNull();
    expect((await save('first', '{}')).body.columns).toBeNull();
    expect((await load('first')).statusCode).toBe(400);
  });

  test('that the service cannot use, such as one of another version, is refused by its rule', async () => {
    await create('newer');
    await management.context.store.writeDirectory([setColumnsStatement('newer', '{"columns":{"colour":"C"}}')]);
    expect((await load('newer')).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining("'colour' is none"),
    });
  });

  test('is deleted with its tenant', async () => {
    await create('gone');
    await save('gone', JSON.stringify(mapping));
    await management.send('DELETE', `${api}/tenants/gone`, { token });
    const rows = await management.context.store.readDirectory("select import_columns from tenant where id = 'gone'");
    expect(rows.map(({ import_columns: columns }) => columns)).toEqual([null]);
    expect((await save('gone', JSON.stringify(mapping))).status).toBe(404);
    await create('gone');
    expect((await management.send('GET', `${api}/tenants/gone`, { token })).body.columns).toBeNull();
  });

  test.each([
    ['with another field', '{"columns":{"sim":"SIM"}}', "'sim' is none"],
    ['too long', `{"columns":{"iccid":"${'x'.repeat(2_100)}"}}`, "JSON with 'columns', 'constants' and 'values'"],
    ['that is an object', mapping, "a string that contains JSON with 'columns', 'constants' and 'values'"],
    ['that is null', null, "JSON with 'columns', 'constants' and 'values'"],
    ['with an escaped control character', '{"columns":{"iccid":"a\\u007fb"}}', 'none of them U+007F'],
  ])('%s is refused, and nothing is saved', async (_title, columns, rule) => {
    const tenant = `bad-${Math.random().toString(36).slice(2)}`;
    await create(tenant);
    const { status, body } = await save(tenant, columns);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(rule)]);
    expect((await management.send('GET', `${api}/tenants/${tenant}`, { token })).body.columns).toBeNull();
  });
});

describe('the mapping of columns of a tenant on the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const environment = { DATA_DIR: join(folder, 'data') };
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is refused unread if its file is too long', async () => {
    const large = join(folder, 'large.json');
    // more than a string may have
    truncateSync(file('large.json', ''), 2 ** 33);
    const { stderr } = await runHere(['tenant', 'map-columns', 'acme', large], environment);
    expect(stderr).toContain('it must have at most 2048 characters');
  });

  test('is saved, used and removed', async () => {
    const rows = file('rows.csv', csv);
    await runHere(['tenant', 'create', 'acme'], environment);
    const importSaved = () => runHere(['import', rows, '--tenant', 'acme', '--columns', 'saved'], environment);
    expect((await importSaved()).stderr).toContain('the tenant must have one');
    const path = file('mapping.json', JSON.stringify(mapping));
    const saved = await runHere(['tenant', 'map-columns', 'acme', path], environment);
    expect(saved.stdout).toContain('--columns saved');
    expect((await importSaved()).stdout).toContain('1 inserted');
    const { stdout } = await runHere(['imports', 'list', '--json', '--limit', '1'], environment);
    expect(JSON.parse(JSON.parse(stdout)[0].columns)).toEqual(mapping);
    const removed = await runHere(['tenant', 'map-columns', 'acme', file('none.json', '{}')], environment);
    expect(removed.stdout).toContain('no mapping');
    expect((await importSaved()).stderr).toContain('the tenant must have one');
  });
});
