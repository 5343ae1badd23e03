import type { ErrorCode } from './error-code.ts';
import type { Fault, ProblemReport } from './problem.ts';

/** An error that is sent as a problem response. The messages are shown to the client. */
export class ProblemError extends Error implements ProblemReport {
  override readonly name: string = 'ProblemError';
  readonly code: ErrorCode;
  readonly messages: readonly string[];
  readonly faults: readonly Fault[];

  constructor({ code, messages, faults = [] }: ProblemReport) {
    super(messages.join('; '));
    this.code = code;
    this.messages = messages;
    this.faults = faults;
  }
}
