import { ApiError, ConnectionError, SubreportError } from '../../client/error.ts';
import { isGatewayFailure, RequestError } from './request.ts';
import { strings } from './strings.ts';

/** What an error tells the reader. */
export interface Failure {
  /** What happened and what to do, without words of the API. */
  readonly sentences: readonly string[];
  /** The sentences of the service, if others replace them. */
  readonly details: readonly string[];
  readonly correlationId?: string | undefined;
}

/** Reads what can be shown of an error: of the client library, or of `request.ts`. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return described(error.problem, error.problem.messages, error.problem.correlation_id);
  // of a proxy: no service has seen its correlation id
  if (error instanceof RequestError && isGatewayFailure(error)) return plain(strings.unreachable);
  if (error instanceof RequestError) return described(error.problem, error.messages, error.correlationId);
  if (error instanceof TypeError || error instanceof ConnectionError) return plain(strings.unreachable);
  if (error instanceof SubreportError) return { ...plain(error.message), correlationId: error.correlationId };
  return plain(error instanceof Error ? error.message : String(error));
}

const plain = (sentence: string): Failure => ({ sentences: [sentence], details: [] });

/** Codes with a sentence of their own have the words of the service as details. */
function described(
  { type }: { readonly type?: unknown },
  messages: readonly string[],
  correlationId: string | undefined,
): Failure {
  const known: Readonly<Record<string, string>> = strings.errors;
  // the service names a character that was pasted with a credential
  const isOwn =
    typeof type === 'string' && Object.hasOwn(known, type) && !messages.some((each) => / has U\+/.test(each));
  const sentence = isOwn ? known[type] : undefined;
  if (sentence === undefined) return { sentences: messages, details: [], correlationId };
  return { sentences: [sentence], details: messages, correlationId };
}
