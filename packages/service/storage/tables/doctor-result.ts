import type { Store } from '../store.ts';
import { writeOne } from './write-one.ts';

/** The result of a check of the store. Times are UTC epoch seconds. */
interface DoctorResult {
  readonly startedAt: number;
  readonly finishedAt: number;
  /** The machine that checked, and its version of subreport. */
  readonly host: string;
  readonly version: string;
  readonly checks: number;
  readonly problems: number;
  /** The first checks as JSON, problems first. */
  readonly listed: string;
}

/** Stores a result in place of the last one. */
export async function putDoctorResult(store: Store, result: DoctorResult): Promise<void> {
  const { startedAt, finishedAt, host, version, checks, problems, listed } = result;
  await writeOne(
    store,
    `insert into doctor_result (id, started_at, finished_at, host, version, checks, problems, listed)
     values ('last', $1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set started_at = excluded.started_at, finished_at = excluded.finished_at, host = excluded.host,
       version = excluded.version, checks = excluded.checks, problems = excluded.problems, listed = excluded.listed`,
    [startedAt, finishedAt, host, version, checks, problems, listed],
  );
}

/** The last result, or `undefined` if the store was never checked. */
export async function findDoctorResult(store: Store): Promise<DoctorResult | undefined> {
  const [row] = await store.readDirectory(
    'select started_at, finished_at, host, version, checks, problems, listed from doctor_result',
  );
  if (row === undefined) return undefined;
  return {
    startedAt: Number(row.started_at),
    finishedAt: Number(row.finished_at),
    host: String(row.host),
    version: String(row.version),
    checks: Number(row.checks),
    problems: Number(row.problems),
    listed: String(row.listed),
  };
}
