import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calm, originCredentials, SimulatedOrigin } from '../../../../test/origin/origin.ts';
import { openSqlite, type TestStore } from '../../../../test/support/engines.ts';
import { mainProgram } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

const folder = mkdtempSync(join(tmpdir(), 'mirror-command-'));
const origin = new SimulatedOrigin(7, { ...calm, sizeMax: 20, sendsTotal: false, showsNullStatus: true }, 400);

let opened: TestStore;
let service: TestService;
let environment: Record<string, string>;
const start = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [mainProgram, ...args], { env: { ...process.env, ...environment } });

async function run(...args: string[]) {
  const child = start(...args);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout as never),
    text(child.stderr as never),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code: child.exitCode };
}

const mirror = (...more: string[]) =>
  ['mirror', '--from', 'origin', '--to-tenant', 'acme', '--max-requests-per-minute', '6000', ...more] as const;

/** Makes the walks in the state file an hour older. */
function passAnHour(): void {
  const state = new DatabaseSync(join(folder, 'subreport/mirrors/origin-acme.db'));
  state.exec('update walk set startedAt = startedAt - 3600, originAt = originAt - 3600');
  state.close();
}

beforeAll(async () => {
  const url = await origin.listen();
  mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
  const { clientId: client_id, clientSecret: client_secret } = originCredentials;
  const profile = { base_url: `${url}/connect-api`, token_url: `${url}/token`, client_id, client_secret };
  writeFileSync(join(folder, 'subreport/profiles/origin.json'), JSON.stringify(profile));
  opened = await openSqlite();
  const port = await freePort();
  service = await startService(opened, { MANAGEMENT_PORT: String(port) });
  const create = ['operator', 'create', '--name', 'mirror', '--scopes', 'operator:read,subscription:write', '--json'];
  environment = {
    XDG_CONFIG_HOME: folder,
    SUBREPORT_SERVER: `http://127.0.0.1:${port}`,
    SUBREPORT_OPERATOR_TOKEN: JSON.parse((await runHere(create, opened.environment)).stdout).token,
  };
  await service.createTenant('acme');
});
afterAll(async () => {
  origin.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

describe('subreport mirror', () => {
  test('equals the origin after kill -9 within walks', async () => {
    for (const requests of [4, 9, 14]) {
      const child = start(...mirror());
      const before = origin.requests;
      while (origin.requests < before + requests && child.exitCode === null) await sleep(5);
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const gone = [...origin.records.keys()].slice(0, 5);
    for (const id of gone) origin.records.delete(id);
    const codes: (number | null)[] = [];
    for (let walks = 0; walks < 3; walks += 1) {
      const { stderr, code } = await run(...mirror('--once'));
      expect(stderr).toContain('walk');
      codes.push(code);
      passAnHour();
    }
    expect(codes.at(-1)).toBe(0);
    const status = JSON.parse((await run(...mirror('--status', '--json'))).stdout);
    expect(status).toMatchObject({ tenant: 'acme', records: 395, rejected: [] });
    expect(status.removed_ids.every((id: string) => gone.includes(id))).toBe(true);
    const [tenant] = JSON.parse((await runHere(['tenant', 'list', '--json'], opened.environment)).stdout);
    expect(tenant).toMatchObject({ records: 395, mirror: { changes_as_of: status.changes_as_of } });
  });

  test('exits with 75 and says why while removals are not confirmed, and needs a person for many', async () => {
    for (const id of [...origin.records.keys()].slice(0, 60)) origin.records.delete(id);
    const held = await run(...mirror('--once'));
    expect([held.code, held.stderr]).toEqual([
      75,
      expect.stringContaining('held back: 60 removals: a walk missed 60 of'),
    ]);
    const [shown] = JSON.parse((await runHere(['tenant', 'list', '--json'], opened.environment)).stdout);
    expect(shown.mirror).toMatchObject({ rejected_records: 0, held_back_removals: 60, unconfirmed_removals: 0 });
    const alone = await runHere([...mirror('--confirm-removals', '60')], { XDG_CONFIG_HOME: folder, ...environment });
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('must be given with --once')]);
    passAnHour();
    const confirmed = await run(...mirror('--once', '--confirm-removals', '60', '--json'));
    expect([confirmed.code, JSON.parse(confirmed.stdout)]).toMatchObject([
      0,
      { records: 335, held_back_removals: 0, unconfirmed_removals: 0, kept_because: null },
    ]);
  });

  test('verifies its tenant, and repairs it after a deletion by mistake', async () => {
    const verify = ['mirror', 'verify', '--from', 'origin', '--to-tenant', 'acme'];
    const equal = await run(...verify);
    expect([equal.code, equal.stdout]).toEqual([
      0,
      expect.stringContaining('has what the mirror has sent: 335 records'),
    ]);
    const [id = ''] = origin.records.keys();
    const erased = await runHere(['subscription', 'delete', '--id', id, '--tenant', 'acme'], opened.environment);
    expect(erased.code).toBe(0);
    const other = await run(...verify);
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining(`${id}: sent by the mirror, not in the tenant`),
    ]);
    const repair = 'repair it with: subreport mirror --from origin --to-tenant acme --once --reload';
    expect(other.stderr).toContain(repair);
    expect((await run(...mirror('--once'))).stderr).toContain('1 records are missing');
    expect((await run(...verify)).code).toBe(0);
    expect((await run(...mirror('--once', '--reload'))).code).toBe(0);
    const away = await runHere(verify, { ...environment, SUBREPORT_SERVER: 'http://127.0.0.1:9' });
    expect([away.code, away.stderr]).toEqual([75, expect.stringMatching(/^Cannot reach http/)]);
  });

  test('exits with 75 and counts exactly the records that its tenant rejects', async () => {
    const ids = [...origin.records.keys()].slice(0, 150);
    const kept = ids.map((id) => origin.records.get(id));
    for (const [at, id] of ids.entries()) origin.records.set(id, { ...kept[at], iccid: 'x' } as never);
    const { code, stdout } = await run(...mirror('--once', '--json'));
    const { rejected_records: rejected, walks } = JSON.parse(stdout);
    expect([code, rejected, walks[0].is_complete]).toEqual([75, 150, false]);
    const invalid = origin.add();
    origin.records.set(invalid.id, { ...invalid, iccid: 'x' });
    await run(...mirror('--once'));
    const { stdout: verified } = await run('mirror', 'verify', '--from', 'origin', '--to-tenant', 'acme', '--json');
    expect(JSON.parse(verified)).toMatchObject({ records: 335 });
    origin.records.delete(invalid.id);
    for (const [at, id] of ids.entries()) origin.records.set(id, kept[at] as never);
    await run(...mirror('--once'));
    passAnHour();
    expect((await run(...mirror('--once'))).code).toBe(0);
  });

  test('forgets an earlier slowdown if most requests a minute are given', async () => {
    const state = new DatabaseSync(join(folder, 'subreport/mirrors/origin-acme.db'));
    state.exec("insert into mirror values ('perMinute', '3000') on conflict do update set value = excluded.value");
    await run(...mirror('--once'));
    expect(state.prepare("select value from mirror where key = 'perMinute'").get()).toEqual({ value: 'null' });
    state.close();
  });

  test('refuses imports into its tenant until the mirror ends', async () => {
    const file = join(folder, 'none.ndjson');
    writeFileSync(file, '');
    const here = (...args: string[]) => runHere(args, opened.environment);
    const refused = await here('import', file, '--tenant', 'acme');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('it must not be a mirror')]);
    expect((await here('tenant', 'end-mirror', 'acme')).code).toBe(0);
    expect((await here('import', file, '--tenant', 'acme')).code).toBe(0);
    const again = await run(...mirror('--once'));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('it must have no records')]);
  });

  test('needs a server that it can reach, except for its status', async () => {
    const without = await runHere([...mirror('--once')], { XDG_CONFIG_HOME: folder, ...opened.environment });
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringMatching(/^Cannot run the mirror: --server or SUBREPORT_SERVER must be the URL/),
    ]);
    const away = { ...environment, SUBREPORT_SERVER: 'http://127.0.0.1:9' };
    const unreachable = await runHere([...mirror('--once')], away);
    expect([unreachable.code, unreachable.stderr]).toEqual([1, expect.stringMatching(/^Cannot reach http/)]);
    expect((await runHere([...mirror('--status')], { XDG_CONFIG_HOME: folder })).code).toBe(0);
    for (const action of [['--status'], ['verify']]) {
      const none = await runHere([...mirror(...action, '--state', join(folder, 'none.db'))], environment);
      expect([none.code, none.stderr]).toEqual([
        1,
        expect.stringMatching(/^Cannot read the state of the mirror: its file must exist and be of this version;/),
      ]);
    }
  });
});

test('a server that is overloaded or away for now makes the exit code 75, and any other refusal 1', async () => {
  const answer = { status: 0, text: '' };
  const server = createServer((_, response) => void response.writeHead(answer.status).end(answer.text)).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const verify = [
    'mirror',
    'verify',
    '--from',
    'origin',
    '--to-tenant',
    'acme',
    '--server',
    `http://127.0.0.1:${port}`,
  ];
  const codes: Record<number, (number | null)[]> = {};
  for (const status of [429, 500, 501, 502, 503, 504, 505]) {
    codes[status] = [];
    for (const text of ['<h1>Not now</h1>', JSON.stringify({ type: 'ANY', messages: ['Cannot be read now'] })]) {
      Object.assign(answer, { status, text });
      codes[status].push((await runHere(verify, environment)).code);
    }
  }
  server.close();
  const [now, wrong] = [
    [75, 75],
    [1, 1],
  ];
  expect(codes).toEqual({ 429: now, 500: wrong, 501: wrong, 502: now, 503: now, 504: now, 505: wrong });
});

test('npm start -- --origin mirrors a simulated service into a tenant of the demo', async () => {
  const env = {
    ...process.env,
    PORT: String(await freePort()),
    MANAGEMENT_PORT: String(await freePort()),
    DATA_DIR: join(folder, 'both'),
  };
  const child = spawn(process.execPath, ['tools/start.ts', '--origin'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  try {
    let printed = '';
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (part: string) => {
        printed += part;
      });
    await expect.poll(() => printed).toMatch(/^walk 1: 15\d\d records$/m);
    const [, tenant] = /The tenant (\S+) mirrors it/.exec(printed) ?? [];
    const [, config] = /XDG_CONFIG_HOME=(\S+) npx subreport mirror/.exec(printed) ?? [];
    expect(printed).toContain(`http://127.0.0.1:${env.PORT}/console as sr-`);
    const args = [
      'packages/service/cli/subreport.mjs',
      'mirror',
      '--from',
      'origin',
      '--to-tenant',
      tenant ?? '',
      '--status',
    ];
    const status = spawn(process.execPath, args, { env: { ...env, XDG_CONFIG_HOME: config } });
    expect(await text(status.stdout)).toMatch(/^mirrored-\S+: 1,5\d\d records \(new: \d+ s, changes: \d+ s\)$/m);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
});
