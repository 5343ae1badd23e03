import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parseAirbyteMessage } from 'faros-airbyte-cdk/lib/protocol.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../simulation/random.ts';
import { engines } from '../support/engines.ts';
import { hasTools } from '../support/has-tools.ts';
import { subscriptionRow } from '../support/rows.ts';
import { runHere } from '../support/run-here.ts';
import { startService, type TestService } from '../support/service.ts';
import airbyteSchema from './airbyte-messages.schema.json' with { type: 'json' };
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { AirbyteTarget, runTap, SingerTarget, type TapRun } from './protocol-history.ts';

// `SYNC_HISTORIES=125 npx vitest run test/sync/protocols.test.ts` runs 500 histories
const histories = Number(process.env.SYNC_HISTORIES ?? 1);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-protocols-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const validateAirbyte = new Ajv({ allErrors: true }).compile(airbyteSchema);

const protocols = {
  singer: { to: 'stdout:singer' },
  'singer with ACTIVATE_VERSION': { to: 'stdout:singer', activateVersion: true },
  airbyte: { to: 'stdout:airbyte' },
};

interface Tally {
  runs: number;
  killed: number;
  emptied: number;
  withoutEmptying: number;
}

/** Changes a report at random, and runs a tap, which ends anywhere, also during a change. */
async function runHistory(
  report: ChangingReport,
  name: string,
  file: string,
  seed: number,
  tally: Tally,
): Promise<void> {
  const protocol = protocols[name as keyof typeof protocols];
  const random = new Random(seed);
  const isSinger = protocol.to === 'stdout:singer';
  const target = isSinger ? new SingerTarget(folder, `${name}-${file}`) : new AirbyteTarget(folder, `${name}-${file}`);
  const pass = async (run: TapRun & { text: string }, isLost: boolean): Promise<void> => {
    if (!isSinger) for (const message of run.messages) requireAirbyte(message);
    await target.read(run, isLost);
  };
  for (let round = 1; round <= 9; round += 1) {
    for (let changes = random.between(0, 3); changes > 0; changes -= 1) await report.change();
    const isKilled = random.chance(0.5);
    const changeAt = random.between(1, 6);
    let writes = 0;
    const between = async () => {
      writes += 1;
      if (writes === changeAt) await report.change();
    };
    const cut = isKilled ? random.between(0, 9_000) : undefined;
    const options = { ...protocol, state: target.state, reload: random.chance(0.1) };
    const run = await runTap(report.source, options, cut, between);
    const { error } = run;
    tally.runs += 1;
    if (error?.code === 'KILLED') tally.killed += 1;
    await pass(run, isKilled && random.chance(0.5));
    if (error !== undefined && error.code !== 'KILLED') {
      if (error.code !== 'DESTINATION_CHANGED') throw error;
      await target.empty();
      tally.emptied += 1;
    } else if (error === undefined) tally.withoutEmptying += 1;
  }
  // without changes, until it is in step: after a lost token it begins without a state
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const last = await runTap(report.source, { ...protocol, state: target.state });
    await pass(last, false);
    if (last.error === undefined) break;
    if (last.error.code !== 'DESTINATION_CHANGED') throw last.error;
    await target.empty();
  }
  const copied = await target.digest();
  target.close();
  if (copied !== (await report.digest())) throw new Error(`${name}, ${file}: the copy is not the report`);
}

function requireAirbyte(message: Record<string, unknown>): void {
  if (!validateAirbyte(message)) throw new Error(JSON.stringify([message, validateAirbyte.errors]));
  parseAirbyteMessage(JSON.stringify(message));
}

describe.runIf(hasTools('python3')).each(engines)('a report on $engine', ({ engine, openTestStore }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await openTestStore(), { PAGE_SIZE_MAX: '7', PAGE_SIZE_DEFAULT: '7' });
  });
  afterAll(() => service.close());

  test.each(Object.keys(protocols))(
    'the target of %s has the report after a random history of changes, lost tokens and killed runs',
    async (name) => {
      const tally = { runs: 0, killed: 0, emptied: 0, withoutEmptying: 0 };
      for (let seed = 5; seed < 5 + Math.max(3, histories); seed += 1) {
        const report = await createChangingReport(service, `${name.replaceAll(/\W/g, '-')}-${seed}`, seed);
        await runHistory(report, name, `${engine}-${seed}`, seed, tally);
      }
      expect(tally.killed).toBeGreaterThan(1);
      expect(tally.withoutEmptying).toBeGreaterThan(1);
      expect(tally.emptied > 0).toBe(name !== 'singer with ACTIVATE_VERSION');
      if (histories > 1) process.stdout.write(`${name}: ${JSON.stringify(tally)}\n`);
    },
  );
});

describe('the commands', () => {
  let service: TestService;
  let report: ChangingReport;
  let count = 0;
  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore());
  });
  afterAll(() => service.close());
  const start = async () => {
    count += 1;
    report = await createChangingReport(service, `tenant-${count}`, count);
    await report.load(['a', 'b', 'c'].map((id) => subscriptionRow({ id })));
    return join(folder, `state-${count}`);
  };
  const run = (args: string[], input = '') =>
    runHere(['sync', '--quiet', ...args], environmentOf(service, report.credentials), input);
  const messagesOf = (stdout: string): Record<string, unknown>[] =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  test('stdout:singer writes the schema, the records, and then their state; a removal with its time', async () => {
    const state = await start();
    const first = messagesOf((await run(['--to', 'stdout:singer', '--state', state])).stdout);
    expect(first.map(({ type }) => type)).toEqual(['SCHEMA', 'STATE', 'RECORD', 'RECORD', 'RECORD', 'STATE']);
    expect(first[0]).toMatchObject({ stream: 'subscriptions', key_properties: ['id'] });
    expect(first[2]?.record).toMatchObject({ id: 'a', _sdc_deleted_at: null });
    writeFileSync(state, `${JSON.stringify(first.at(-1)?.value)}\n`);
    await report.erase(['b']);
    const second = messagesOf((await run(['--to', 'stdout:singer', '--state', state])).stdout);
    expect(second.map(({ type }) => type)).toEqual(['SCHEMA', 'RECORD', 'STATE']);
    expect(second[1]?.record).toEqual({ id: 'b', _sdc_deleted_at: expect.stringMatching(/Z$/) });
  });

  test('stdout:airbyte reads as a source: status, records, states with their number of records, status', async () => {
    const state = await start();
    const { stdout } = await run(['--to', 'stdout:airbyte']);
    const first = messagesOf(stdout);
    for (const message of first) requireAirbyte(message);
    expect(first.map(({ type }) => type)).toEqual([
      ...['TRACE', 'TRACE', 'STATE', 'RECORD', 'RECORD', 'RECORD', 'STATE', 'TRACE'],
    ]);
    expect(stdout).toContain('"sourceStats":{"recordCount":3.0}');
    writeFileSync(state, JSON.stringify([first[6]?.state]));
    await report.erase(['b']);
    const second = messagesOf((await run(['--to', 'stdout:airbyte', '--state', state])).stdout);
    expect(second[2]).toMatchObject({
      record: { data: { id: 'b', _ab_cdc_cursor: 2, _ab_cdc_deleted_at: expect.stringMatching(/Z$/) } },
    });
  });

  test('a lost token fails, and says it in the protocol; --activate-version reads everything again', async () => {
    const state = await start();
    writeFileSync(state, (await run(['--to', 'stdout:airbyte'])).stdout.trim().split('\n').at(-2) ?? '');
    await report.erase(['b']);
    await report.loseTombstones();
    const { code, stdout, stderr } = await run(['--to', 'stdout:airbyte', '--state', state]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('its change token must still be valid')]);
    const messages = messagesOf(stdout);
    for (const message of messages) requireAirbyte(message);
    expect(messages.at(-2)).toMatchObject({ trace: { type: 'ERROR', error: { failure_type: 'config_error' } } });
    expect(messages.at(-1)).toMatchObject({ trace: { stream_status: { status: 'INCOMPLETE' } } });

    const first = await run(['--to', 'stdout:singer', '--activate-version']);
    writeFileSync(state, first.stdout.trim().split('\n').at(-1) ?? '');
    await report.erase(['c']);
    await report.loseTombstones();
    const second = messagesOf((await run(['--to', 'stdout:singer', '--activate-version', '--state', state])).stdout);
    expect(second.map(({ type }) => type)).toEqual(['SCHEMA', 'STATE', 'RECORD', 'ACTIVATE_VERSION', 'STATE']);
    expect(second[3]?.version).toBeGreaterThan(Number(messagesOf(first.stdout).at(-2)?.version));
    expect(second[2]?.version).toBe(second[3]?.version);
  });

  test('the state of another client, and what is no state, are refused', async () => {
    const state = await start();
    writeFileSync(state, (await run(['--to', 'stdout:singer'])).stdout.trim().split('\n').at(-1) ?? '');
    await start();
    const other = await run(['--to', 'stdout:singer', '--state', state]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('that of the same client and service')]);
    writeFileSync(state, 'else');
    const wrong = await run(['--to', 'stdout:airbyte', '--state', state]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('the last state of stdout:airbyte')]);
  });

  test.runIf(hasTools('jq'))('the entry point of docs/sync.md has the four commands of Airbyte', async () => {
    await start();
    const page = readFileSync(fileURLToPath(new URL('../../docs/sync.md', import.meta.url)), 'utf8');
    const script = /```sh\n(#!\/bin\/sh\n.*?)```/s.exec(page)?.[1] ?? '';
    const given = join(folder, 'given');
    const program = `#!/bin/sh\nprintf '%s\\n' "$SUBREPORT_URL" "$SUBREPORT_CLIENT_ID" "$SUBREPORT_CLIENT_SECRET" "$@" > ${given}\n`;
    writeFileSync(join(folder, 'subreport'), program, { mode: 0o755 });
    writeFileSync(join(folder, 'entry.sh'), script);
    const { client_id, client_secret } = report.credentials;
    const [config, state] = [join(folder, 'config.json'), join(folder, 'airbyte-state.json')];
    writeFileSync(config, JSON.stringify({ url: service.url, client_id, client_secret }));
    writeFileSync(state, '[]');
    const runEntry = async (...args: string[]) => {
      const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
      execFileSync('sh', [join(folder, 'entry.sh'), ...args], { env });
      const [SUBREPORT_URL = '', SUBREPORT_CLIENT_ID = '', SUBREPORT_CLIENT_SECRET = '', ...command] = readFileSync(
        given,
        'utf8',
      )
        .trimEnd()
        .split('\n');
      const { stdout } = await runHere(command, { SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET });
      const messages = messagesOf(stdout);
      for (const message of messages) requireAirbyte(message);
      return messages;
    };
    expect((await runEntry('spec'))[0]).toMatchObject({ type: 'SPEC', spec: { protocol_version: '0.3.2' } });
    expect(await runEntry('check', '--config', config)).toEqual([
      { type: 'CONNECTION_STATUS', connectionStatus: { status: 'SUCCEEDED' } },
    ]);
    const [found] = await runEntry('discover', '--config', config);
    expect(found?.catalog).toMatchObject({
      streams: [{ name: 'subscriptions', source_defined_cursor: true, source_defined_primary_key: [['id']] }],
    });
    writeFileSync(join(folder, 'catalog.json'), JSON.stringify(found?.catalog));
    const read = await runEntry(
      'read',
      '--config',
      config,
      '--catalog',
      join(folder, 'catalog.json'),
      '--state',
      state,
    );
    expect(read.filter(({ type }) => type === 'RECORD').length).toBe(3);
    writeFileSync(config, JSON.stringify({ url: service.url, client_id, client_secret: 'wrong' }));
    expect((await runEntry('check', '--config', config))[0]).toMatchObject({ connectionStatus: { status: 'FAILED' } });
  });
});
