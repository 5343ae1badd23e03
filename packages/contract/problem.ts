import type { Static } from 'typebox';
import { errorTable } from './error.ts';
import type { ErrorCode } from './error-code.ts';
import { closed, printable, utcTime } from './schema.ts';
import { Type } from './type.ts';

/** An invalid parameter or header of a request: its name, its value and the rule that it breaks. */
export const Fault = closed('An invalid parameter or header', {
  parameter: Type.String({ maxLength: 256, description: 'Name of the parameter or header' }),
  value: Type.Union([Type.String({ maxLength: 128 }), Type.Null()], {
    description:
      'The value received, truncated; null if none was sent, if the parameter is unknown or repeated, or if it is personal data',
  }),
  rule: Type.String({ maxLength: 1024, description: 'What must hold, with a valid example' }),
});
export type Fault = Static<typeof Fault>;

/** The body of every error response except those of the OAuth endpoints (RFC 9457 §3). */
export const Problem = closed('An error (RFC 9457)', {
  type: Type.String({
    enum: Object.keys(errorTable),
    maxLength: 32,
    description: 'An error code, see docs/readers/errors.md',
  }),
  title: Type.String({ maxLength: 256, description: 'The meaning of the code; the same in every response' }),
  status: Type.Integer({ minimum: 400, maximum: 599, format: 'int32' }),
  detail: Type.String({ maxLength: 65_536, description: 'All messages in one string' }),
  messages: Type.Array(Type.String({ maxLength: 2048 }), {
    maxItems: 256,
    description: 'One sentence for each problem',
  }),
  errors: Type.Array(Fault, { maxItems: 256, description: 'One entry for each invalid parameter or header' }),
  correlation_id: printable(256, 'The X-Correlation-ID of the response'),
  history_begins_at: Type.Optional(
    Type.String({
      ...utcTime,
      description: 'With HISTORY_NOT_KEPT: the oldest instant that can be read; absent if there is no history',
      examples: ['2026-10-01T00:00:00Z'],
    }),
  ),
});
export type Problem = Static<typeof Problem>;

/** An error of a layer below HTTP; `http` turns it into a response. */
export interface ProblemReport {
  readonly code: ErrorCode;
  readonly messages: readonly string[];
  readonly faults?: readonly Fault[];
  /** Further members of the body (RFC 9457 §3.2). */
  readonly members?: Readonly<Record<string, unknown>>;
}

/**
 * The sentence for one fault: `Cannot use parameter 'size': it must be …: current value is '0'`.
 */
export function faultSentence(fault: Fault): string {
  const value = fault.value === null ? '' : `: current value is '${fault.value}'`;
  return `Cannot use parameter '${fault.parameter}': it must be ${fault.rule}${value}`;
}

/** Builds the body of an error response from the error table and the report of this request. */
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
    ...report.members,
  };
}

/** An error that is sent as a problem response. The messages are shown to the client. */
export class ProblemError extends Error implements ProblemReport {
  override readonly name: string = 'ProblemError';
  readonly code: ErrorCode;
  readonly messages: readonly string[];
  readonly faults: readonly Fault[];
  readonly members: Readonly<Record<string, unknown>>;

  constructor({ code, messages, faults = [], members = {} }: ProblemReport) {
    super(messages.join('; '));
    this.code = code;
    this.messages = messages;
    this.faults = faults;
    this.members = members;
  }
}

/** Truncates a string that a client sent, for use in a response. */
export const shorten = (text: string, charactersMax = 64): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
