import { hostname } from 'node:os';
import { formatInstant } from '../../contract/instant.ts';
import { type DoctorResult, doctorChecksListed } from '../../contract/operator/doctor.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { findDoctorResult, putDoctorResult } from '../storage/tables/doctor-result.ts';
import { OperatorError } from './error.ts';
import { type OperatorContext, performInSteps } from './perform.ts';

type Check = DoctorResult['checks'][number];

/** Longest message of a check that is stored, in characters. */
const messageMax = 4_096;

/** Stores the result of a check of the store in place of the last one. */
export async function keepDoctorResult(
  store: Store,
  checks: readonly Check[],
  { startedAt, finishedAt, version }: { startedAt: number; finishedAt: number; version: string },
): Promise<void> {
  const problems = checks.filter(({ ok }) => !ok);
  const listed = [...problems, ...checks.filter(({ ok }) => ok)]
    .slice(0, doctorChecksListed)
    .map((check) => ({ ...check, message: check.message.slice(0, messageMax) }));
  const counts = { checks: checks.length, problems: problems.length, listed: JSON.stringify(listed) };
  await putDoctorResult(store, { startedAt, finishedAt, host: hostname(), version, ...counts });
}

/** The result of the last check of the store. */
export async function showDoctor({ store }: Pick<OperatorContext, 'store'>): Promise<DoctorResult> {
  const result = await findDoctorResult(store);
  if (result === undefined) {
    throw new OperatorError(
      'NOT_FOUND',
      "Cannot show the last check of the store: it must have been checked; run 'subreport doctor', or POST /operator/v1/doctor",
    );
  }
  const { startedAt, finishedAt, host, version, checks, problems, listed } = result;
  return {
    ok: problems === 0,
    started_at: formatInstant(startedAt),
    finished_at: formatInstant(finishedAt),
    ...{ host, version, checked: checks, problems },
    checks: JSON.parse(listed) as Check[],
  };
}

/** No tenant can have this name, so no tenant's lock collides. */
const doctorLock = '#doctor' as TenantId;

/**
 * Checks the store and returns the result. `run` checks it and stores the result. Throws
 * `OperatorError` `CONFLICT` while another process runs this function.
 */
export function runDoctor(context: OperatorContext, run: () => Promise<void>): Promise<DoctorResult> {
  return performInSteps(context, { name: 'doctor.run', target: {} }, async () => {
    const lock = await context.store.lockImport(doctorLock);
    if (lock === undefined) {
      throw new OperatorError(
        'CONFLICT',
        'Cannot check the store: only one check at a time may be started, and another one is running; GET /operator/v1/doctor returns its result',
      );
    }
    try {
      await run();
      return await showDoctor(context);
    } finally {
      await lock.release();
    }
  });
}
