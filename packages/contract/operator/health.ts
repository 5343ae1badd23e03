import type { Static } from 'typebox';
import { closed, printable, wholeNumber } from '../schema.ts';
import { Type } from '../type.ts';
import { nullableTime, type OperatorOperation, word } from './operation.ts';

/** What can need the operator's attention, the worst first. */
const healthProblemIds = [
  ...['not-ready', 'doctor', 'lost-audit', 'certificate', 'failed-imports', 'rejected-rows', 'stale-tenants'],
  ...['unread', 'waiting', 'dropped-log'],
] as const;

const problem = closed('What needs attention', {
  id: printable(32, 'What is wrong', 'rejected-rows'),
  severity: word(['error', 'warning'], 'error: reports or the audit log are affected', 'warning'),
  count: wholeNumber('How many checks, rows, tenants or requests it concerns', 3),
});

/** The state of the service. */
export const ServiceHealth = closed('The state of the service', {
  ready: Type.Boolean({ description: 'Whether it can serve reports' }),
  version: printable(32, 'Version of subreport', '0.2.0'),
  processes: wholeNumber('Processes', 1),
  tenants: Type.Union([wholeNumber('Tenants', 12), Type.Null()], {
    description: 'Tenants; null if they could not be counted',
    examples: [12],
  }),
  requests_waiting: wholeNumber('Requests that wait for their turn', 0),
  exports_in_progress: wholeNumber('Exports that run', 0),
  loads_in_progress: wholeNumber('Imports over HTTP that run', 0),
  problems: Type.Array(problem, {
    maxItems: healthProblemIds.length,
    description: 'What needs attention, the worst first',
  }),
  last_check_at: nullableTime('When the store was last checked; null if never'),
});
export type ServiceHealth = Static<typeof ServiceHealth>;

/** The operation on the state of the service. */
export const healthOperations = {
  getServiceHealth: {
    method: 'GET',
    path: '/operator/v1/health',
    tag: 'service',
    summary: 'Get the state of the service',
    description:
      'Returns what needs attention, and how much the processes of this host have to do now. The curves of the past are in the metrics.',
    scope: 'operator:read',
    response: { status: 200, schema: ServiceHealth, example: 'serviceHealth' },
  },
} as const satisfies Record<string, OperatorOperation>;
