import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { DoctorResult } from '../../../contract/operator/doctor.ts';
import { Setting } from '../../../contract/operator/setting.ts';

const drawn = drawOne(engines, import.meta.url);

/** The members of the responses of these tests. */
type Body = Partial<DoctorResult> & { readonly type?: string; readonly data?: readonly Setting[] };

describe.each(drawn)('the state of the service on $engine', ({ engine, openTestStore }) => {
  let service: TestService;
  let environment: Readonly<Record<string, string>>;
  let management: string;
  let token: string;
  const send = async (method: string, path: string) => {
    const response = await fetch(`${management}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, body: (await response.json()) as Body };
  };
  beforeAll(async () => {
    const opened = await openTestStore();
    environment = { ...opened.environment, KEY_ENCRYPTION_SECRET: secret };
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(opened, { MANAGEMENT_PORT: String(port), KEY_ENCRYPTION_SECRET: secret });
    const create = ['operator', 'create', '--name', 'test', '--scopes', 'operator:read,operator:write', '--json'];
    token = JSON.parse((await runHere(create, environment)).stdout).token;
    await service.createTenant('acme');
  });
  afterAll(() => service.close());

  test('the last result of the doctor is served and measured, also of a command', async () => {
    expect((await send('GET', '/operator/v1/doctor')).status).toBe(404);
    const { stdout } = await runHere(['doctor', '--json'], environment);
    const { status, body } = await send('GET', '/operator/v1/doctor');
    expect([status, body.ok, Check(DoctorResult, body)]).toEqual([200, true, true]);
    expect(body.checks).toEqual(JSON.parse(stdout).checks);
    const metrics = async () => (await fetch(`${management}/metrics`)).text();
    const time = Date.parse(String(body.finished_at)) / 1000;
    expect(await metrics()).toContain(`subreport_doctor_last_run_timestamp_seconds ${time}\n`);
    expect(await metrics()).toContain('subreport_doctor_problems 0\n');
  });

  test.runIf(engine === 'sqlite')('the doctor runs on request, one at a time', async () => {
    const running = send('POST', '/operator/v1/doctor');
    const lock = '#doctor' as Parameters<typeof service.store.lockImport>[0];
    await expect
      .poll(async () => {
        const held = await service.store.lockImport(lock);
        await held?.release();
        return held;
      })
      .toBeUndefined();
    const second = await send('POST', '/operator/v1/doctor');
    expect([second.status, second.body.type]).toEqual([409, 'CONFLICT']);
    const { status, body } = await running;
    expect([status, body.ok, body.checked]).toEqual([200, true, expect.any(Number)]);
    expect((await send('GET', '/operator/v1/doctor')).body).toEqual(body);
  });

  test('the settings in force are listed, of secrets only whether they are set', async () => {
    const { body } = await send('GET', '/operator/v1/settings');
    const byName = new Map<string, Setting>((body.data ?? []).map((each) => [each.name, each]));
    for (const each of byName.values()) expect([each.name, Check(Setting, each)]).toEqual([each.name, true]);
    expect(byName.get('PORT')?.value).toBe(new URL(service.url).port);
    expect(byName.get('KEY_ENCRYPTION_SECRET')).toMatchObject({ value: null, is_set: true });
    expect(byName.get('KEY_ENCRYPTION_SECRET_BEFORE')).toMatchObject({ value: null, is_set: false });
    expect(byName.get('DATABASE_URL')).toMatchObject({ value: null, is_set: engine === 'postgres' });
    expect(JSON.stringify(body)).not.toContain(secret);
    const shown = JSON.parse((await runHere(['config', '--json'])).stdout) as { name: string }[];
    expect([...byName.keys()]).toEqual(shown.map(({ name }) => name));
  });
});

const secret = 'cTdaMmtWYjlYY040bVJ0OEx3UHlEM3NHZkhqQTZ1RWU=';
