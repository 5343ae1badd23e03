import Type, { type Static } from 'typebox';
import { type ErrorCode, errorTable } from './error.ts';
import { printableAscii } from './schema.ts';

/**
 * One thing that is wrong with a request: which parameter, with which value, against which rule,
 * and what to do.
 */
export const Fault = Type.Object(
  {
    parameter: Type.String({ maxLength: 256, description: 'Name of the parameter or header' }),
    value: Type.Union([Type.String({ maxLength: 128 }), Type.Null()], {
      description: 'The value that was sent, shortened; null when none was, or when it is personal',
    }),
    rule: Type.String({ maxLength: 1024, description: 'What must hold, with a right example' }),
  },
  { additionalProperties: false, description: 'One fault of a request' },
);
export type Fault = Static<typeof Fault>;

/**
 * The body of every error answer but those of the OAuth endpoints: `application/problem+json` (RFC
 * 9457 §3).
 */
export const Problem = Type.Object(
  {
    type: Type.String({
      enum: Object.keys(errorTable),
      maxLength: 32,
      description: 'A code of the error table, see docs/errors.md',
    }),
    title: Type.String({ maxLength: 256, description: 'What the code means, the same each time' }),
    status: Type.Integer({ minimum: 400, maximum: 599, format: 'int32' }),
    detail: Type.String({ maxLength: 65_536, description: 'All messages as one text' }),
    messages: Type.Array(Type.String({ maxLength: 2048 }), {
      maxItems: 256,
      description: 'A sentence for each problem, all at once',
    }),
    errors: Type.Array(Fault, { maxItems: 256, description: 'Each fault of the request' }),
    correlation_id: Type.String({ maxLength: 256, pattern: printableAscii, description: 'The X-Correlation-ID' }),
  },
  { additionalProperties: false, description: 'An error answer (RFC 9457)' },
);
export type Problem = Static<typeof Problem>;

/** What a room says of a request it cannot serve; `http` turns it into an answer. */
export interface ProblemReport {
  readonly code: ErrorCode;
  readonly messages: readonly string[];
  readonly faults?: readonly Fault[];
}

/**
 * The sentence for one fault: `Cannot use parameter 'size': it must be …: current value is '0'`.
 */
export function faultSentence(fault: Fault): string {
  const value = fault.value === null ? '' : `: current value is '${fault.value}'`;
  return `Cannot use parameter '${fault.parameter}': it must be ${fault.rule}${value}`;
}

/** The body of a problem answer: the error table's part and what is particular to this request. */
export function buildProblem(report: ProblemReport, correlationId: string): Problem {
  const { status, title } = errorTable[report.code];
  return {
    type: report.code,
    title,
    status,
    detail: report.messages.join('; '),
    messages: [...report.messages],
    errors: [...(report.faults ?? [])],
    correlation_id: correlationId,
  };
}
