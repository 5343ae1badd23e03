import type { Static } from 'typebox';
import { printableAscii, wholeNumber } from '../schema.ts';
import { Type } from '../type.ts';
import { nullableTime, type OperatorOperation } from './operation.ts';

/** The periods for which the service keeps values, with the seconds between two values. */
export const healthPeriods = { hour: { seconds: 60, values: 60 }, day: { seconds: 300, values: 288 } } as const;
export type HealthPeriod = keyof typeof healthPeriods;

/** What can need the operator's attention, the worst first. */
const healthProblemIds = [
  ...['not-ready', 'doctor', 'lost-audit', 'certificate', 'failed-imports', 'rejected-rows', 'stale-tenants'],
  ...['unread', 'waiting', 'dropped-log'],
] as const;

const word = (description: string, example: string) =>
  Type.String({ maxLength: 32, pattern: printableAscii, description, examples: [example] });

const problem = Type.Object(
  {
    id: word('What is wrong', 'rejected-rows'),
    severity: Type.Enum(['error', 'warning'], {
      type: 'string',
      maxLength: 7,
      description: 'error: reports or the audit log are affected',
      examples: ['warning'],
    }),
    count: wholeNumber('How many checks, rows, tenants or requests it concerns', 3),
  },
  { additionalProperties: false, description: 'What needs attention' },
);

const value = Type.Union([Type.Number({ format: 'double', examples: [12.5] }), Type.Null()], {
  description: 'A value, or null if there was none, such as a duration without requests',
  examples: [12.5],
});

const line = Type.Object(
  {
    id: word('What the values are', 'p99'),
    values: Type.Array(value, {
      maxItems: healthPeriods.day.values + 1,
      description: 'Oldest first; the last one is of the last_seconds before the response',
    }),
  },
  { additionalProperties: false, description: 'A line of a chart' },
);

const chart = Type.Object(
  {
    id: word('What it is about', 'duration'),
    unit: word('per-second, milliseconds, percent, connections or mebibytes', 'milliseconds'),
    lines: Type.Array(line, { maxItems: 3, description: 'Its lines' }),
  },
  { additionalProperties: false, description: 'A chart' },
);

const progress = Type.Object(
  {
    checked: wholeNumber('Tenants that were checked', 3),
    tenants: wholeNumber('All tenants', 12),
    percent: wholeNumber('How much of the next tenant is checked, in percent', 40),
  },
  { additionalProperties: false, description: 'How far a check of the store is' },
);

/** The state of the service, and its main metrics over a period. */
export const ServiceHealth = Type.Object(
  {
    ready: Type.Boolean({ description: 'Whether it can serve reports' }),
    version: word('Version of subreport', '0.2.0'),
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
    check: Type.Union([progress, Type.Null()], {
      description: 'The check of the store that was started over HTTP; null if none runs',
      examples: [null],
    }),
    kept_seconds: wholeNumber('Seconds for which values were kept so far, at most 86400', 86_400),
    seconds: wholeNumber('Seconds between two values of a chart', 300),
    last_seconds: wholeNumber('Seconds between the last value of a chart and the one before it', 140),
    charts: Type.Array(chart, {
      maxItems: 8,
      description: 'The main metrics of the public listener and the processes',
    }),
  },
  { additionalProperties: false, description: 'The state of the service' },
);
export type ServiceHealth = Static<typeof ServiceHealth>;

/** The operation on the state of the service. */
export const healthOperations = {
  getServiceHealth: {
    method: 'GET',
    path: '/operator/v1/health',
    tag: 'service',
    summary: 'Get the state of the service',
    description:
      'Returns what needs attention, and the main metrics of the last hour or day. The values are kept in memory by the processes of one host, from their start.',
    scope: 'operator:read',
    query: {
      period: Type.Enum(['hour', 'day'] as const, {
        type: 'string',
        maxLength: 4,
        default: 'day',
        description: 'hour: a value per minute; day: a value per five minutes',
        'x-rule': 'one of hour, day',
        examples: ['day'],
      }),
    },
    response: { status: 200, description: 'The state', schema: ServiceHealth, example: 'serviceHealth' },
  },
} as const satisfies Record<string, OperatorOperation>;
