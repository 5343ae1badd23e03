import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndedRun, RunOutcome } from '../../sync/entry-state.ts';
import type { Clock, EntryStatus } from '../../sync/run-plan.ts';
import type { SyncEntry, SyncPlan } from '../../sync/sync-file.ts';
import { CommandError, writeFailure } from '../error.ts';
import { countText, formatTable, type Output, writeResult } from '../output.ts';

/** Options of the commands of a file of syncs. */
export interface FileOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly once?: boolean;
}

/** A checked file of syncs, with absolute paths. */
interface OpenedFile extends SyncPlan {
  readonly folder: string;
  readonly state: string;
}

async function openFile(file: string): Promise<OpenedFile> {
  const { readSyncFile } = await import('../../sync/sync-file.ts');
  const plan = readSyncFile(file);
  const folder = resolve(dirname(file));
  const state = plan.state === undefined ? resolve(`${file}.state`) : resolve(folder, plan.state);
  return { ...plan, folder, state, metrics: plan.metrics && resolve(folder, plan.metrics) };
}

/**
 * Runs the entries of a file, each in a process of its own, so that none delays or ends another.
 * Throws `CommandError` if one failed that is not repeated.
 */
export async function runSyncFile(
  file: string,
  options: FileOptions,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const opened = await openFile(file);
  const { runOnce, runOnSchedule } = await import('../../sync/run-plan.ts');
  let couldMeasure = await writeMetrics(opened, output);
  const work = options.once === true ? runOnce : runOnSchedule;
  const succeeded = await work({
    ...opened,
    clock: systemClock,
    signal,
    run: (entry, scheduledFor) => runProcess('run', entry, instantOption(entry, scheduledFor), opened, signal),
    onEnd(entry, run) {
      report(entry, run, options, output);
      void writeMetrics(opened, output).then((wrote) => {
        couldMeasure = wrote;
      });
    },
  });
  if (opened.metrics !== undefined) couldMeasure = await writeMetrics(opened, output);
  if (!succeeded) throw new CommandError(`Cannot bring every copy of '${file}' in step: every entry must succeed`);
  if (!couldMeasure) throw new CommandError(`Cannot complete '${file}': its metrics must be written`);
}

const systemClock: Clock = {
  now: () => new Date(),
  async sleepUntil(at, signal) {
    // in parts: the machine may sleep, and its clock may be set
    for (let left = at.getTime() - Date.now(); left > 0 && !signal.aborted; left = at.getTime() - Date.now())
      await sleep(Math.min(left, 30_000), undefined, { signal }).catch(() => undefined);
  },
};

/** Files have the instant of the run in their path. */
const instantOption = ({ to }: SyncEntry, scheduledFor: Date): string[] =>
  /^(dir:|s3:|sftp:)/.test(to) ? ['--scheduled-for', scheduledFor.toISOString()] : [];

/** Milliseconds that a run may take to end after SIGTERM. */
const stopMsMax = 10_000;

/** Runs a command of sync for an entry, in its own process, in the folder of the file. */
async function runProcess(
  command: 'run' | 'check',
  entry: SyncEntry,
  more: readonly string[],
  { folder, state }: OpenedFile,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { flagsOf, timeoutMsOf } = await import('../../sync/sync-file.ts');
  const variables = entry['env-file'] === undefined ? [] : ['--env-file', entry['env-file']];
  const args = [...variables, 'sync', command, ...flagsOf(entry, state), ...more, '--json', '--quiet'];
  // with a channel, the process ends like by SIGTERM if this one does
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk) => {
      texts[name] = (texts[name] + chunk).slice(-4_000);
    });
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), stopMsMax).unref();
  };
  const limit = AbortSignal.timeout(timeoutMsOf(entry));
  const end = AbortSignal.any([signal, limit]);
  end.addEventListener('abort', stop);
  if (end.aborted) stop();
  const code = await new Promise<number | null>((done, fail) => child.on('error', fail).on('close', done));
  end.removeEventListener('abort', stop);
  if (code !== 0) {
    const wasLate = end.aborted && !signal.aborted;
    const late = `Cannot end within its timeout of ${entry.timeout ?? '12h'}: it was stopped`;
    return {
      succeeded: false,
      message: wasLate ? late : texts.stderr.trim() || `it ended with ${code ?? child.signalCode}`,
    };
  }
  return { succeeded: true, ...figuresOf(texts.stdout) };
}

/** The number of records and the revision in the result of a sync, if it has them. */
function figuresOf(stdout: string): Pick<RunOutcome, 'rows' | 'revision'> {
  const line = stdout.trim().split('\n').at(-1) || '{}';
  const {
    rows,
    revision = undefined,
    report,
  } = JSON.parse(line) as {
    rows?: number;
    revision?: number;
    report?: { revision?: number };
  };
  const reached = revision ?? report?.revision;
  return { ...(rows !== undefined && { rows }), ...(reached !== undefined && { revision: reached }) };
}

function report(entry: SyncEntry, run: EndedRun | 'BUSY', options: FileOptions, output: Output): void {
  const { name } = entry;
  if (run === 'BUSY') {
    if (options.quiet !== true) output.stderr.write(`${name}: another process is running it\n`);
  } else if (options.json === true) writeResult(output, true, { entry: name, ...jsonOfRun(run) }, '');
  else if (!run.succeeded) output.stderr.write(`${run.endedAt} ${name}: ${run.message}\n`);
  else if (options.quiet !== true) output.stdout.write(`${run.endedAt} ${name}: ${sentenceOf(run)}\n`);
}

const jsonOfRun = (run: EndedRun) => ({
  succeeded: run.succeeded,
  scheduled_for: run.scheduledFor,
  started_at: run.startedAt,
  ended_at: run.endedAt,
  failures: run.failures,
  message: run.message,
  rows: run.rows,
  revision: run.revision,
});

const sentenceOf = ({ rows, revision, scheduledFor }: EndedRun): string => {
  const figures = [
    ...(rows === undefined ? [] : [`${countText(rows)} rows`]),
    ...(revision === undefined ? [] : [`at revision ${revision}`]),
  ];
  return `${figures.length === 0 ? 'in step' : figures.join(' ')}, scheduled for ${scheduledFor}`;
};

/** Replaces the metrics file: a reader sees the old or the new one. Returns whether it could. */
async function writeMetrics({ entries, state, metrics }: OpenedFile, output: Output): Promise<boolean> {
  if (metrics === undefined) return true;
  const { metricsOf, statusOf } = await import('../../sync/run-plan.ts');
  const part = `${metrics}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(part, metricsOf(statusOf(entries, state, new Date())), { flag: 'wx' });
    chmodSync(part, 0o644); // a collector runs as another user, and no record is in it
    renameSync(part, metrics);
    return true;
  } catch (error) {
    rmSync(part, { force: true });
    output.stderr.write(`${writeFailure(metrics, error as NodeJS.ErrnoException).message}\n`);
    return false;
  }
}

/** Tries source and destination of every entry. Throws `CommandError` if one cannot be used. */
export async function checkSyncFile(
  file: string,
  options: FileOptions,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const opened = await openFile(file);
  const { entries } = opened;
  const checks = await Promise.all(
    entries.map(async (entry) => ({ name: entry.name, ...(await runProcess('check', entry, [], opened, signal)) })),
  );
  for (const { name, succeeded, message } of checks) {
    if (options.json === true) writeResult(output, true, { entry: name, succeeded, message }, '');
    else if (!succeeded) output.stderr.write(`${name}: ${message}\n`);
    else if (options.quiet !== true) output.stdout.write(`${name}: source and destination can be used\n`);
  }
  const failed = checks.filter(({ succeeded }) => !succeeded).length;
  if (failed > 0)
    throw new CommandError(
      `Cannot use every entry of '${file}': current value is ${failed} of ${entries.length} that failed`,
    );
}

/** Prints the state of every entry. Throws `CommandError` if the last run of one failed. */
export async function showFileStatus(file: string, options: FileOptions, output: Output): Promise<void> {
  const { entries, state } = await openFile(file);
  const { statusOf } = await import('../../sync/run-plan.ts');
  const all = statusOf(entries, state, new Date());
  const header = ['entry', 'last success', 'scheduled for', 'rows', 'revision', 'due', 'late', 'last run'];
  writeResult(output, options.json === true, all.map(jsonOfStatus), formatTable(header, all.map(rowOfStatus)));
  const failed = all.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
  if (failed.length > 0)
    throw new CommandError(
      `Cannot confirm '${file}': the last run of every entry must have succeeded: current value is a failure of ${failed.join(', ')}`,
    );
}

const jsonOfStatus = ({ name, isRunning, due, lateSeconds, success, failure }: EntryStatus) => ({
  entry: name,
  running: isRunning,
  due: due?.toISOString(),
  late_seconds: lateSeconds,
  last_success: success && jsonOfRun(success),
  last_failure: failure && jsonOfRun(failure),
});

const rowOfStatus = ({ name, isRunning, due, lateSeconds, success, failure }: EntryStatus): string[] => {
  const instant = (text: string | undefined) => text?.replace(/\.\d{3}/, '') ?? '-';
  const ended =
    failure === undefined
      ? success === undefined
        ? 'none'
        : 'succeeded'
      : `failed ${failure.failures} ×: ${failure.message?.split('\n')[0]}`;
  return [
    name,
    instant(success?.endedAt),
    instant(success?.scheduledFor),
    countText(success?.rows ?? null),
    String(success?.revision ?? '-'),
    instant(due?.toISOString()),
    `${countText(lateSeconds)} s`,
    isRunning ? 'running' : ended,
  ];
};
