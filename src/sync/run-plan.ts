import { type EndedRun, EntryState, faultOf, type LastRuns, type RunOutcome } from './entry-state.ts';
import type { SyncEntry } from './sync-file.ts';

/** The time, and waiting for it. */
export interface Clock {
  now(): Date;
  /** Resolves at an instant, or when the signal is aborted. */
  sleepUntil(at: Date, signal: AbortSignal): Promise<void>;
}

export interface PlanOptions {
  readonly entries: readonly SyncEntry[];
  /** Folder of the state. */
  readonly state: string;
  readonly clock: Clock;
  /** Stops: runs in progress are ended, and no others begin. */
  readonly signal: AbortSignal;
  /** Runs an entry. */
  readonly run: (entry: SyncEntry, scheduledFor: Date) => Promise<RunOutcome>;
  /** Called after each run, and once for an entry that another process is running. */
  readonly onEnd: (entry: SyncEntry, run: EndedRun | 'BUSY') => void;
}

/** Milliseconds until a failed run is repeated; doubled with each failure. */
const [repeatMsMin, repeatMsMax] = [60_000, 3_600_000];

/**
 * Runs all entries that are due, and those without a schedule, each once. Returns whether none
 * failed.
 */
export async function runOnce(options: PlanOptions): Promise<boolean> {
  const results = await Promise.all(
    options.entries.map(async (entry) => {
      const last = EntryState.read(options.state, entry.name);
      const due = dueInstant(entry, last, options.clock.now());
      return due === undefined ? undefined : runEntry(entry, due, last.failure, options);
    }),
  );
  return results.every((run) => run === undefined || run === 'BUSY' || run.succeeded);
}

/**
 * Runs each entry at the instants of its schedule until stopped; an entry without one, once.
 * Returns whether all entries without a schedule succeeded.
 */
export async function runOnSchedule(options: PlanOptions): Promise<boolean> {
  const [scheduled, others] = [true, false].map((has) =>
    options.entries.filter((entry) => (entry.schedule !== undefined) === has),
  ) as [SyncEntry[], SyncEntry[]];
  const [succeeded] = await Promise.all([
    runOnce({ ...options, entries: others }),
    ...scheduled.map((entry) => followSchedule(entry, options)),
  ]);
  return succeeded;
}

async function followSchedule(entry: SyncEntry, options: PlanOptions): Promise<void> {
  const { clock, signal, state } = options;
  let busyUntil = new Date(0);
  let unrecorded: EndedRun | undefined;
  while (!signal.aborted) {
    const now = clock.now();
    const last = EntryState.read(state, entry.name);
    const due = dueInstant(entry, last, now);
    const failure = unrecorded ?? last.failure;
    const repeatAt = due === undefined ? undefined : laterOf(repeatInstant(failure, due), busyUntil);
    if (due !== undefined && repeatAt !== undefined && repeatAt <= now) {
      const run = await runEntry(entry, due, failure, options);
      // another process may be running it, and may fail
      if (run === 'BUSY') busyUntil = new Date(now.getTime() + repeatMsMin);
      unrecorded = run !== 'BUSY' && run?.isUnrecorded === true ? run : undefined;
      continue;
    }
    const next = entry.schedule?.next(now) ?? now;
    await clock.sleepUntil(repeatAt !== undefined && repeatAt < next ? repeatAt : next, signal);
  }
}

/**
 * The instant for which an entry must run: the latest of its schedule, unless it has run for it. So
 * several that were missed are one. Without a schedule, now.
 */
function dueInstant({ schedule }: SyncEntry, { success }: LastRuns, now: Date): Date | undefined {
  if (schedule === undefined) return new Date(Math.floor(now.getTime() / 1000) * 1000);
  const latest = schedule.latest(now);
  if (latest === undefined || (success !== undefined && new Date(success.scheduledFor) >= latest)) return undefined;
  return latest;
}

/** When a run for an instant may begin after it failed. */
function repeatInstant(failure: EndedRun | undefined, due: Date): Date {
  if (failure === undefined || failure.scheduledFor !== due.toISOString()) return due;
  const delay = Math.min(repeatMsMin * 2 ** (failure.failures - 1), repeatMsMax);
  return new Date(Date.parse(failure.endedAt) + delay);
}

const laterOf = (a: Date, b: Date): Date => (a > b ? a : b);

/** What became of an entry; `undefined` if another process has run it, or if it was stopped. */
type EntryResult = (EndedRun & { readonly isUnrecorded?: boolean }) | 'BUSY' | undefined;

/**
 * Runs an entry, unless another process is running it or has run it for the same instant. If its
 * state cannot be used, the run has failed: it stays due, and the other entries go on.
 */
async function runEntry(
  entry: SyncEntry,
  scheduledFor: Date,
  before: EndedRun | undefined,
  options: PlanOptions,
): Promise<EntryResult> {
  const { state, clock, onEnd } = options;
  const times = { scheduledFor: scheduledFor.toISOString(), startedAt: clock.now().toISOString() };
  const result = await runLocked(entry, scheduledFor, times, options).catch((error: unknown): EntryResult => {
    const message = faultOf(state, entry.name, error);
    const endedAt = clock.now().toISOString();
    return { succeeded: false, message, ...times, endedAt, failures: (before?.failures ?? 0) + 1, isUnrecorded: true };
  });
  if (result !== undefined) onEnd(entry, result);
  return result;
}

/** Locks the state of an entry, runs it, and records the outcome. Throws if that fails. */
async function runLocked(
  entry: SyncEntry,
  scheduledFor: Date,
  times: Pick<EndedRun, 'scheduledFor' | 'startedAt'>,
  { state: folder, clock, signal, run }: PlanOptions,
): Promise<EntryResult> {
  const state = EntryState.lock(folder, entry.name);
  if (state === undefined) return 'BUSY';
  try {
    if (entry.schedule !== undefined && dueInstant(entry, state.lastRuns(), scheduledFor) === undefined)
      return undefined;
    const outcome = await run(entry, scheduledFor).catch(
      (error: Error): RunOutcome => ({ succeeded: false, message: error.message }),
    );
    // a run that was stopped has no outcome: it stays due
    if (signal.aborted && !outcome.succeeded) return undefined;
    state.commit({ ...outcome, ...times, endedAt: clock.now().toISOString() });
    const { success, failure } = state.lastRuns();
    return outcome.succeeded ? success : failure;
  } finally {
    state.close();
  }
}

/** The state of an entry at a moment. */
export interface EntryStatus extends LastRuns {
  readonly name: string;
  readonly isRunning: boolean;
  /** The instant of the schedule for which a run must succeed next; it may be past. */
  readonly due: Date | undefined;
  /** Seconds since then; 0 if it is not past. */
  readonly lateSeconds: number;
}

/** The state of all entries. One whose state cannot be used has failed, as of now. */
export const statusOf = (entries: readonly SyncEntry[], folder: string, now: Date): EntryStatus[] =>
  entries.map((entry) => {
    const { fault, ...last } = EntryState.read(folder, entry.name);
    const due = entry.schedule === undefined ? undefined : (dueInstant(entry, last, now) ?? entry.schedule.next(now));
    const lateSeconds = Math.max(0, Math.floor((now.getTime() - (due ?? now).getTime()) / 1000));
    const status = { ...last, name: entry.name, due, lateSeconds };
    if (fault === undefined) return status;
    const at = now.toISOString();
    const times = { scheduledFor: at, startedAt: at, endedAt: at };
    return { ...status, failure: { succeeded: false, message: fault, ...times, failures: 1 } };
  });

/** The status in the text format of Prometheus. */
export function metricsOf(all: readonly EntryStatus[]): string {
  const seconds = (instant: string | undefined) => (instant === undefined ? undefined : Date.parse(instant) / 1000);
  const metric = (name: string, help: string, figureOf: (status: EntryStatus) => number | undefined): string => {
    const lines = all.flatMap((status) => {
      const value = figureOf(status);
      return value === undefined ? [] : [`subreport_sync_${name}{entry="${status.name}"} ${value}\n`];
    });
    return `# HELP subreport_sync_${name} ${help}\n# TYPE subreport_sync_${name} gauge\n${lines.join('')}`;
  };
  return [
    metric('last_success_timestamp_seconds', 'When the last successful run ended.', ({ success }) =>
      seconds(success?.endedAt),
    ),
    metric('last_failure_timestamp_seconds', 'When the last run failed, if none succeeded after it.', ({ failure }) =>
      seconds(failure?.endedAt),
    ),
    metric('failures', 'Failed runs since the last success.', ({ failure }) => failure?.failures ?? 0),
    metric(
      'due_timestamp_seconds',
      'The scheduled instant for which a run must succeed next.',
      ({ due }) => due?.getTime() && due.getTime() / 1000,
    ),
    metric('running', 'Whether a run is in progress.', ({ isRunning }) => Number(isRunning)),
    metric('rows', 'Records of the copy after the last successful run.', ({ success }) => success?.rows),
    metric(
      'revision',
      'Revision of the report in the copy after the last successful run.',
      ({ success }) => success?.revision,
    ),
  ].join('');
}
