import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunOutcome } from '../../src/sync/entry-state.ts';
import { metricsOf, type PlanOptions, runOnce, runOnSchedule, statusOf } from '../../src/sync/run-plan.ts';
import { Schedule } from '../../src/sync/schedule.ts';
import type { SyncEntry } from '../../src/sync/sync-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-plan-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const entryOf = (name: string, line?: string): SyncEntry => ({
  name,
  to: 'dir:x',
  schedule: line === undefined ? undefined : new Schedule(line, 'Europe/Berlin'),
});
const nightly = entryOf('nightly', '30 2 * * *');

/** Runs entries by a clock that goes at once to what the entries wait for. Returns their runs. */
async function follow(
  start: string,
  end: string,
  entries: readonly SyncEntry[] = [nightly],
  outcomeOf: (scheduledFor: string, count: number) => RunOutcome = () => ({ succeeded: true }),
  onEnd: PlanOptions['onEnd'] = () => undefined,
): Promise<string[]> {
  const stop = new AbortController();
  const runs: string[] = [];
  let now = new Date(start);
  await runOnSchedule({
    ...optionsOf(entries, stop.signal),
    onEnd,
    clock: {
      now: () => now,
      async sleepUntil(at) {
        await new Promise(setImmediate);
        if (at > now) now = at;
        if (now > new Date(end)) stop.abort();
      },
    },
    async run({ name }, scheduledFor) {
      const short = (date: Date) => date.toISOString().slice(0, 16);
      runs.push(`${name} ${short(scheduledFor)} at ${short(now)}`);
      return outcomeOf(short(scheduledFor), runs.length);
    },
  });
  return runs;
}

const optionsOf = (entries: readonly SyncEntry[], signal = new AbortController().signal): PlanOptions => ({
  entries,
  state: join(folder, 'state'),
  signal,
  clock: { now: () => new Date('2027-06-01T12:00:00Z'), sleepUntil: async () => undefined },
  run: async () => ({ succeeded: true, rows: 5, revision: 7 }),
  onEnd: () => undefined,
});

test('the nights in which the clocks change have one run each', async () => {
  expect(await follow('2027-03-26T12:00Z', '2027-03-29T12:00Z')).toEqual([
    'nightly 2027-03-26T01:30 at 2027-03-26T12:00',
    'nightly 2027-03-27T01:30 at 2027-03-27T01:30',
    'nightly 2027-03-28T01:00 at 2027-03-28T01:00',
    'nightly 2027-03-29T00:30 at 2027-03-29T00:30',
  ]);
  expect(await follow('2027-10-30T12:00Z', '2027-11-01T12:00Z')).toEqual([
    'nightly 2027-10-30T00:30 at 2027-10-30T12:00',
    'nightly 2027-10-31T00:30 at 2027-10-31T00:30',
    'nightly 2027-11-01T01:30 at 2027-11-01T01:30',
  ]);
});

test('after three days off, there is one late run, for the latest instant', async () => {
  await follow('2027-06-01T12:00Z', '2027-06-02T12:00Z');
  expect(await follow('2027-06-05T09:15Z', '2027-06-06T12:00Z')).toEqual([
    'nightly 2027-06-05T00:30 at 2027-06-05T09:15',
    'nightly 2027-06-06T00:30 at 2027-06-06T00:30',
  ]);
});

test('a failed run is repeated after 1, 2, 4 … minutes, until it succeeds or the next instant comes', async () => {
  const failing = (_instant: string, count: number) => ({ succeeded: count > 4, message: 'no' });
  expect(await follow('2027-06-01T00:30Z', '2027-06-01T12:00Z', [nightly], failing)).toEqual([
    'nightly 2027-06-01T00:30 at 2027-06-01T00:30',
    'nightly 2027-06-01T00:30 at 2027-06-01T00:31',
    'nightly 2027-06-01T00:30 at 2027-06-01T00:33',
    'nightly 2027-06-01T00:30 at 2027-06-01T00:37',
    'nightly 2027-06-01T00:30 at 2027-06-01T00:45',
  ]);
  const always = () => ({ succeeded: false, message: 'no' });
  const hourly = [entryOf('hourly', '0 * * * *')];
  const runs = await follow('2027-06-01T00:00Z', '2027-06-01T01:30Z', hourly, always);
  expect(runs.slice(5, 8)).toEqual([
    'hourly 2027-06-01T00:00 at 2027-06-01T00:31',
    'hourly 2027-06-01T01:00 at 2027-06-01T01:00',
  ]);
});

test('two processes together run each instant once', async () => {
  const log = join(folder, 'log');
  const program = fileURLToPath(new URL('plan-process.ts', import.meta.url));
  const args = [program, join(folder, 'state'), log, '2027-10-30T22:10:00Z', '2027-10-31T06:10:00Z'];
  const codes = await Promise.all(
    [0, 1].map(async () => (await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close'))[0]),
  );
  expect(codes).toEqual([0, 0]);
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  expect(lines).toHaveLength(new Set(lines).size);
  expect(lines.filter((line) => line.startsWith('nightly'))).toEqual([
    'nightly 2027-10-30T00:30:00.000Z',
    'nightly 2027-10-31T00:30:00.000Z',
  ]);
});

test('a hanging entry delays no other', async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  const running = runOnce({
    ...optionsOf([entryOf('hangs'), entryOf('a'), nightly], stop.signal),
    run: ({ name }) =>
      name === 'hangs'
        ? new Promise((resolve) => stop.signal.addEventListener('abort', () => resolve({ succeeded: false })))
        : Promise.resolve({ succeeded: true }),
    onEnd: ({ name }) => ended.push(name),
  });
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(ended).toEqual(['a', 'nightly']);
  stop.abort();
  await running;
});

test('a run that is stopped stays due, and one whose process is running it is left to it', async () => {
  const stop = new AbortController();
  const options = optionsOf([nightly], stop.signal);
  let inside: unknown;
  await runOnce({
    ...options,
    async run() {
      await runOnce({ ...options, onEnd: (_, run) => (inside = run) });
      stop.abort();
      return { succeeded: false };
    },
  });
  expect(inside).toBe('BUSY');
  const [status] = statusOf([nightly], options.state, new Date('2027-06-01T00:30:05Z'));
  expect(status).toMatchObject({ success: undefined, failure: undefined, isRunning: false, lateSeconds: 5 });
});

/** Makes the states of two entries unusable. */
function damageStates(): void {
  mkdirSync(join(folder, 'state', 'folder.db'), { recursive: true });
  writeFileSync(join(folder, 'state', 'garbage.db'), 'no database'.repeat(100));
}

test('an entry whose state cannot be used fails alone, in its line, the status and the metrics', async () => {
  damageStates();
  const entries = [entryOf('folder'), entryOf('garbage', '30 2 * * *'), nightly];
  const told: Record<string, unknown> = {};
  const options: PlanOptions = {
    ...optionsOf(entries),
    onEnd: ({ name }, run) => {
      told[name] = run;
    },
  };
  expect(await runOnce(options)).toBe(false);
  expect(told).toMatchObject({
    folder: { succeeded: false, failures: 1, message: expect.stringMatching(/^Cannot use '.*folder.db': .*unable to/) },
    garbage: { succeeded: false, failures: 1, message: expect.stringMatching(/garbage.db': .* is not a database$/) },
    nightly: { succeeded: true },
  });
  const all = statusOf(entries, options.state, new Date('2027-06-01T12:00:00Z'));
  expect(all).toMatchObject([
    { name: 'folder', failure: { failures: 1, message: expect.stringContaining('folder.db') } },
    { name: 'garbage', failure: { failures: 1 }, due: new Date('2027-06-01T00:30:00Z'), lateSeconds: 41_400 },
    { name: 'nightly', failure: undefined, success: { rows: 5 } },
  ]);
  expect(metricsOf(all)).toContain('subreport_sync_failures{entry="garbage"} 1\n');
  rmSync(join(folder, 'state', 'folder.db'), { recursive: true });
  rmSync(join(folder, 'state', 'garbage.db'));
  expect(await runOnce(options)).toBe(true);
});

test('a scheduled entry whose state cannot be used is repeated like a failed run', async () => {
  damageStates();
  const told: unknown[] = [];
  const garbage = entryOf('garbage', '30 2 * * *');
  await follow('2027-06-01T00:30Z', '2027-06-01T12:00Z', [garbage], undefined, (_, run) => {
    told.push(run);
    // as when an operator removes the file
    if (told.length === 4) rmSync(join(folder, 'state', 'garbage.db'));
  });
  expect(told).toMatchObject([
    { failures: 1, endedAt: '2027-06-01T00:30:00.000Z' },
    { failures: 2, endedAt: '2027-06-01T00:31:00.000Z' },
    { failures: 3, endedAt: '2027-06-01T00:33:00.000Z' },
    { failures: 4, endedAt: '2027-06-01T00:37:00.000Z' },
    { succeeded: true, endedAt: '2027-06-01T00:45:00.000Z' },
  ]);
});

test('a run whose outcome cannot be recorded, and one that cannot be started, have failed', async () => {
  const told: Record<string, unknown> = {};
  const options = optionsOf([entryOf('full'), entryOf('unstarted'), nightly]);
  const succeeded = await runOnce({
    ...options,
    async run({ name }) {
      if (name === 'unstarted') throw new Error('spawn EAGAIN');
      if (name === 'full') {
        const reader = new DatabaseSync(join(options.state, 'full.db'));
        reader.exec('begin; select * from sqlite_schema'); // the commit waits for readers
        setTimeout(() => reader.close(), 1_000);
      }
      return { succeeded: true };
    },
    onEnd: ({ name }, run) => {
      told[name] = run;
    },
  });
  expect(succeeded).toBe(false);
  expect(told).toMatchObject({
    full: { succeeded: false, message: expect.stringContaining('full.db') },
    unstarted: { succeeded: false, message: 'spawn EAGAIN' },
    nightly: { succeeded: true },
  });
});

test('once runs what is due, and what has no schedule; the status and the metrics tell of it', async () => {
  const entries = [nightly, entryOf('always'), entryOf('bad')];
  const ran: string[] = [];
  const options: PlanOptions = {
    ...optionsOf(entries),
    async run({ name }) {
      ran.push(name);
      return name === 'bad' ? { succeeded: false, message: 'no' } : { succeeded: true, rows: 5, revision: 7 };
    },
  };
  expect(await runOnce(options)).toBe(false);
  expect(await runOnce(options)).toBe(false);
  expect(ran).toEqual(['nightly', 'always', 'bad', 'always', 'bad']);
  const all = statusOf(entries, options.state, new Date('2027-06-01T12:00:00Z'));
  expect(all).toMatchObject([
    { name: 'nightly', due: new Date('2027-06-02T00:30:00Z'), lateSeconds: 0, success: { rows: 5, revision: 7 } },
    { name: 'always', due: undefined, success: { scheduledFor: '2027-06-01T12:00:00.000Z' } },
    { name: 'bad', success: undefined, failure: { failures: 2, message: 'no' } },
  ]);
  const samples = metricsOf(all)
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  expect(samples).toEqual([
    'subreport_sync_last_success_timestamp_seconds{entry="nightly"} 1811851200',
    'subreport_sync_last_success_timestamp_seconds{entry="always"} 1811851200',
    'subreport_sync_last_failure_timestamp_seconds{entry="bad"} 1811851200',
    'subreport_sync_failures{entry="nightly"} 0',
    'subreport_sync_failures{entry="always"} 0',
    'subreport_sync_failures{entry="bad"} 2',
    'subreport_sync_due_timestamp_seconds{entry="nightly"} 1811896200',
    'subreport_sync_running{entry="nightly"} 0',
    'subreport_sync_running{entry="always"} 0',
    'subreport_sync_running{entry="bad"} 0',
    'subreport_sync_rows{entry="nightly"} 5',
    'subreport_sync_rows{entry="always"} 5',
    'subreport_sync_revision{entry="nightly"} 7',
    'subreport_sync_revision{entry="always"} 7',
    '',
  ]);
});

test('the status of entries that never ran writes nothing', () => {
  statusOf([nightly], join(folder, 'state'), new Date());
  expect(existsSync(join(folder, 'state'))).toBe(false);
});
