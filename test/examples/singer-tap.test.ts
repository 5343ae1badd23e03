import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChangingReport,
  createChangingReport,
  environmentOf,
  sha256,
} from '../../packages/cli/test/sync/changing-report.ts';
import { Random } from '../simulation/random.ts';
import { engines } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startCommand } from '../support/run-command.ts';
import { startService, type TestService } from '../support/service.ts';
import { SingerTarget } from './singer-target.ts';

const tap = fileURLToPath(new URL('../../examples/singer-tap.ts', import.meta.url));

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-singer-'));
  service = await startService(await engines[0].openTestStore(), { PAGE_SIZE_MAX: '7', PAGE_SIZE_DEFAULT: '7' });
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/**
 * Runs the tap with the last state of the target, which reads its output while it runs.
 *
 * @param linesMax after so many lines, the tap is killed, and the target loses what has no state
 */
async function run(report: ChangingReport, target: SingerTarget, linesMax = Number.POSITIVE_INFINITY) {
  const state = join(folder, 'state.json');
  writeFileSync(state, target.states.map((each) => `${each}\n`).join(''));
  const { child, ended } = startCommand(['--state', state], {
    program: [process.execPath, tap],
    environment: environmentOf(service, report.credentials),
  });
  let [rest, lines] = ['', 0];
  let fault: unknown;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const complete = (rest + text).split('\n');
    rest = complete.pop() ?? '';
    for (const line of complete) {
      lines += 1;
      if (lines > linesMax || fault !== undefined) continue;
      try {
        target.read(line);
      } catch (error) {
        fault = error;
      }
    }
    if (lines >= linesMax) child.kill('SIGKILL');
  });
  const { code, stderr } = await ended;
  if (fault !== undefined) throw fault;
  const isKilled = lines > linesMax || code === null;
  if (isKilled) target.lose();
  else target.end();
  return { code, stderr, isKilled };
}

const digestOf = (target: SingerTarget): string =>
  sha256(
    target
      .lines()
      .map((line) => `${line}\n`)
      .join(''),
  );

test('the target of the tap has the report after random changes, lost tokens and kills at random lines', async () => {
  const random = new Random(5);
  const report = await createChangingReport(service, 'random', 5);
  const target = new SingerTarget();
  let [killed, finished] = [0, 0];
  for (let round = 1; round <= 16; round += 1) {
    for (let changes = random.between(0, 3); changes > 0; changes -= 1) await report.change();
    const { code, stderr, isKilled } = await run(
      report,
      target,
      random.chance(0.5) ? random.between(1, 20) : undefined,
    );
    if (isKilled) {
      killed += 1;
      continue;
    }
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(digestOf(target)).toBe(await report.digest());
    finished += 1;
  }
  expect(killed).toBeGreaterThan(2);
  expect(finished).toBeGreaterThan(2);
  expect(target.versions).toBeGreaterThan(1);
  expect(target.removals).toBeGreaterThan(0);
});

test('a full read that was killed continues, and then removes what the report no longer has', async () => {
  const report = await createChangingReport(service, 'killed', 4);
  await report.load(Array.from({ length: 25 }, (_, index) => subscriptionRow({ id: `id-${index}` })));
  const target = new SingerTarget();
  await run(report, target);
  await report.erase(['id-20']);
  await report.loseTombstones();
  // a whole read has 4 pages, each with its state
  expect((await run(report, target, 20)).isKilled).toBe(true);
  expect(target.states.at(-1)).toContain('"loading":true');
  expect(await run(report, target)).toMatchObject({ code: 0 });
  expect(digestOf(target)).toBe(await report.digest());
});

test('the tap refuses the state of another client, a file that is none, and missing credentials', async () => {
  const report = await createChangingReport(service, 'one', 1);
  const target = new SingerTarget();
  await run(report, target);
  const other = await createChangingReport(service, 'other', 2);
  expect(await run(other, target)).toMatchObject({ code: 2, stderr: expect.stringContaining('of this client') });
  target.states.push('else');
  expect(await run(report, target)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Usage: node singer-tap'),
  });
  const { ended } = startCommand([], { program: [process.execPath, tap] });
  expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('client_secret must be given') });
});

test('the tap takes its settings from a file, and a rejected client ends it with 1', async () => {
  const { credentials } = await createChangingReport(service, 'file', 3);
  const config = join(folder, 'config.json');
  const start = (secret: string) => {
    writeFileSync(config, JSON.stringify({ url: service.url, ...credentials, client_secret: secret }));
    return startCommand(['--config', config], { program: [process.execPath, tap] }).ended;
  };
  const { code, stdout } = await start(credentials.client_secret);
  const types = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect({ code, types }).toEqual({ code: 0, types: ['SCHEMA', 'ACTIVATE_VERSION', 'STATE'] });
  const refused = await start('wrong');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^singer-tap: .*\(invalid_client, /) });
});
