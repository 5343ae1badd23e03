import { ApiError, ConnectionError, SubreportError } from '../../src/client/error.ts';
import { RequestError } from './request.ts';
import { strings } from './strings.ts';

/** What an error tells the reader. */
export interface Failure {
  /** The sentences of the service, or one of ours. */
  readonly messages: readonly string[];
  readonly correlationId?: string | undefined;
}

/** Reads what can be shown of an error: of the client library, or of `request.ts`. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError)
    return { messages: error.problem.messages, correlationId: error.problem.correlation_id };
  if (error instanceof RequestError) return error;
  // no service has seen its correlation id
  if (error instanceof TypeError || error instanceof ConnectionError) return { messages: [strings.unreachable] };
  if (error instanceof SubreportError) return { messages: [error.message], correlationId: error.correlationId };
  return { messages: [error instanceof Error ? error.message : String(error)] };
}
