import { durationText, formatInstant } from '../../contract/instant.ts';
import { parseInstantIn } from '../../contract/local-time.ts';
import type { ProblemReport } from '../../contract/problem.ts';
import type { Zone } from '../../contract/zone.ts';
import { findRevision, type Moment, type PastRevision, type SettledMoment } from '../storage/read/past.ts';
import type { ReadOptions, Store, TenantId, TenantReader } from '../storage/store.ts';
import { readHistory, type TenantHistory } from '../storage/tables/history.ts';
import { settleInstant, type TrustedHistory } from '../storage/tables/settle-instant.ts';
import { ReportError, refuse } from './error.ts';

/**
 * Parses a moment of the past, a date-time or a revision. A date-time means the last revision that
 * was committed before its second began; a fraction makes no difference. Returns `undefined` for
 * anything else, and for a time after `nowSeconds`.
 */
export function parseMoment(text: string, nowSeconds: number, zone: Zone | undefined): Moment | undefined {
  if (/^\d{1,16}$/.test(text)) {
    const revision = Number(text);
    return Number.isSafeInteger(revision) ? { revision } : undefined;
  }
  const instant = parseInstantIn(text, zone);
  return instant === undefined || instant.seconds > nowSeconds ? undefined : { seconds: instant.seconds };
}

/**
 * Makes the answer for a moment final, in every process. Call it before the snapshot is opened in
 * which `requireRevision` looks for the moment. Throws `ReportError` `HISTORY_NOT_KEPT` if the
 * history has no truth about the moment, because a commit was stamped by a clock that was ahead.
 */
export async function settle(
  store: Store,
  tenant: TenantId,
  moment: Moment | undefined,
  { nowSeconds, parameter = 'as-of' }: { readonly nowSeconds: number; readonly parameter?: string },
): Promise<SettledMoment | undefined> {
  if (moment !== undefined && 'seconds' in moment) {
    const { seconds } = moment;
    const trusted = await settleInstant(store, tenant, { seconds, nowSeconds });
    if (trusted !== undefined && seconds > trusted.untilSeconds)
      throw notTrusted(trusted, { parameter, value: formatInstant(seconds) });
  }
  return moment as SettledMoment | undefined;
}

/** A moment as a parameter. */
export const describeMoment = (moment: Moment): string =>
  'revision' in moment ? String(moment.revision) : formatInstant(moment.seconds);

function notTrusted({ untilSeconds, aheadSeconds }: TrustedHistory, named: NamedValue): ReportError {
  const rule = `at most ${formatInstant(untilSeconds)}, or absent for the present: the history is ${durationText(aheadSeconds)} ahead of the clock, which the operator repairs`;
  return unreadable(named, rule);
}

const unreadable = ({ parameter, value }: NamedValue, rule: string, members?: ProblemReport['members']): ReportError =>
  new ReportError(
    'HISTORY_NOT_KEPT',
    [`Cannot read the past: '${parameter}' must be ${rule}: current value is '${value}'`],
    [{ parameter, value, rule }],
    members,
  );

/** A revision that can be read, and the history that it is in. */
interface FoundRevision extends PastRevision {
  readonly history: TenantHistory;
}

/**
 * Finds the revision of a moment, or the present one if there is no moment. Throws `ReportError`
 * `HISTORY_NOT_KEPT` if it cannot be read any more, and `INVALID_REQUEST_PARAMS` for a revision
 * that the tenant has not reached.
 */
export async function requireRevision(
  reader: TenantReader,
  moment: SettledMoment | undefined,
  parameter = 'as-of',
): Promise<FoundRevision> {
  const history = await readHistory(reader);
  const { revision: current } = history;
  if (moment === undefined) return { revision: current, current, history };
  const found = await findRevision(reader, history, moment);
  if (found !== undefined) return { ...found, history };
  const value = describeMoment(moment);
  if ('revision' in moment && moment.revision > current)
    refuse([{ parameter, value, rule: `at most the present revision, ${current}` }], false);
  throw notKept(history, { parameter, value });
}

/**
 * Runs `work` with a reader of one snapshot, as `Store.readTenant`. If it throws a `ReportError`,
 * that is no failure of the store.
 */
export async function readTenant<T>(
  store: Store,
  tenant: TenantId,
  work: (reader: TenantReader) => Promise<T>,
  options?: ReadOptions,
): Promise<T> {
  const done = await store.readTenant<{ readonly value: T } | ReportError>(
    tenant,
    (reader) =>
      work(reader).then(
        (value) => ({ value }),
        (error: unknown) => {
          if (error instanceof ReportError) return error;
          throw error;
        },
      ),
    options,
  );
  if (done instanceof ReportError) throw done;
  return done.value;
}

/** The error of a moment that the history does not reach. */
export function notKept({ kept }: TenantHistory, named: NamedValue): ReportError {
  const start =
    kept === undefined
      ? 'of which there is none: the operator keeps none, or no record has changed since it began'
      : `which begins at ${formatInstant(kept.fromSeconds)}, with revision ${kept.from}`;
  const members = kept && { history_begins_at: formatInstant(kept.fromSeconds) };
  return unreadable(named, `within the kept history, ${start}`, members);
}

/** The headers of a response that shows a revision from which records may have been erased. */
export const describeRevision = ({ revision }: PastRevision, erased: number): Record<string, string> => ({
  'x-revision': String(revision),
  ...(erased > 0 && { 'x-erased-count': String(erased) }),
});

interface NamedValue {
  readonly parameter: string;
  readonly value: string;
}
