import type { Problem } from '../../contract/problem.ts';
import { CommandError, UsageError } from '../error.ts';
import type { Server } from './server.ts';

/** A response of a server. */
export interface Reply {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** The error of a response that is not successful: all its sentences, and its correlation id. */
export function rejectionOf(server: Server, { status, text }: Reply, correlationId: string): Error {
  const { type, messages, correlation_id: id = correlationId } = parseProblem(text);
  if (!Array.isArray(messages)) return responseError(server, `its status was ${status}`, id);
  const message = [...messages, `Correlation id: ${id}`].join('\n');
  return type === 'INVALID_REQUEST_PARAMS' ? new UsageError(message) : new CommandError(message);
}

/** The error of a response that is not of the operator's API, such as the page of a proxy. */
export function responseError({ url }: Server, what: string, correlationId?: string): CommandError {
  const id = correlationId === undefined ? [] : [`Correlation id: ${correlationId}`];
  const message = `Cannot use the response of ${new URL(url).origin}: it must be of the operator's API (MANAGEMENT_PORT): ${what}`;
  return new CommandError([message, ...id].join('\n'));
}

function parseProblem(text: string): Partial<Problem> {
  try {
    return (JSON.parse(text) as Problem | null) ?? {};
  } catch {
    return {}; // not a problem document; the caller reports it
  }
}
