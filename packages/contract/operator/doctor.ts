import type { Static } from 'typebox';
import { closed, plain, printable, wholeNumber } from '../schema.ts';
import { Type } from '../type.ts';
import { type OperatorOperation, time } from './operation.ts';

/** Maximum number of checks that a result lists. */
export const doctorChecksListed = 100;

const doctorCheck = closed('A check', {
  check: plain(64, 'Name of the check', 'counts'),
  tenant: Type.Optional(plain(256, 'The tenant; absent for a check of the whole store', 'acme')),
  records: Type.Optional(wholeNumber('Number of records of the tenant', 2000)),
  ok: Type.Boolean({ description: 'Whether the check passed' }),
  repaired: Type.Optional(Type.Boolean({ description: 'Whether a problem was repaired' })),
  message: plain(8_192, 'The result, and how to correct a problem', '2000 records, all counts exact'),
});

/** The result of a check of the store. */
export const DoctorResult = closed('The result of a check of the store', {
  ok: Type.Boolean({ description: 'Whether every check passed' }),
  started_at: time('When it started'),
  finished_at: time('When it finished'),
  host: printable(256, 'The machine that checked', 'db-1'),
  version: printable(64, 'Its version of subreport', '0.2.0'),
  checked: wholeNumber('Number of checks', 6),
  problems: wholeNumber('Number of checks that failed', 0),
  checks: Type.Array(doctorCheck, {
    maxItems: doctorChecksListed,
    description: `The first ${doctorChecksListed} checks, those that failed first`,
  }),
});
export type DoctorResult = Static<typeof DoctorResult>;

/** The operations on checks of the store. */
export const doctorOperations = {
  getDoctor: {
    method: 'GET',
    path: '/operator/v1/doctor',
    tag: 'service',
    summary: 'Get the last check of the store',
    description:
      'Returns the result of the last check of the store. A command, a timer, the service (every day with SQLite) or this API ran it. 404 means that the store was never checked.',
    scope: 'operator:read',
    response: { status: 200, schema: DoctorResult, example: 'doctor' },
    errors: [404],
  },
  runDoctor: {
    method: 'POST',
    path: '/operator/v1/doctor',
    tag: 'service',
    summary: 'Check the store',
    description:
      'Runs subreport doctor in a process of the lowest priority and returns its result. It reads every record, which takes minutes for millions of them, and ends after an hour. It continues if the caller disconnects; GET returns the result. While another check that was started here is running, the response is 409.',
    scope: 'operator:write',
    response: { status: 200, schema: DoctorResult, example: 'doctor' },
    errors: [409],
  },
} as const satisfies Record<string, OperatorOperation>;
