import { type ErrorCode, errorStatuses } from '../contract/error-code.ts';
import { type TokenErrorCode, tokenErrorTable } from '../contract/token-error.ts';
import { ApiError, type ErrorContext, type Problem, ResponseError, TokenRequestError } from './error.ts';
import { readJson } from './read-json.ts';

/** Makes the error of a response that is not successful. */
export type ReadRejection = (response: Response, context: ErrorContext) => Promise<Error>;

/** The error of the API: a problem document (RFC 9457) of the error table. */
export const readProblem: ReadRejection = async (response, context) => {
  const problem: Partial<Problem> = (await readJson(response)) ?? {};
  const code = problem.type as ErrorCode | undefined;
  if (code === undefined || !Object.hasOwn(errorStatuses, code))
    return unknownError(response, 'a problem document (RFC 9457)', context);
  return new ApiError(code, problem as Problem, response, {
    ...context,
    correlationId: problem.correlation_id ?? context.correlationId,
  });
};

/** The error of the token endpoint (RFC 6749 §5.2). */
export const readTokenError: ReadRejection = async (response, context) => {
  const body: { error?: TokenErrorCode; error_description?: string } = (await readJson(response)) ?? {};
  if (body.error === undefined || !Object.hasOwn(tokenErrorTable, body.error))
    return unknownError(response, 'an error of RFC 6749 section 5.2', context);
  return new TokenRequestError(body.error, body.error_description ?? body.error, response, context);
};

function unknownError(response: Response, expected: string, context: ErrorContext): ResponseError {
  const message = `Cannot read the response of ${new URL(response.url).origin}: it must be ${expected}: its status was ${response.status}`;
  return new ResponseError('UNKNOWN_ERROR', message, response, context);
}

/** The error of a redirect, which is never followed because it could send secrets elsewhere. */
export function redirectError(url: string, response: Response, context: ErrorContext): ResponseError {
  const target = response.headers.get('location') ?? 'unknown'; // browsers hide it
  const message = `Cannot use ${new URL(url).origin}: it must respond without a redirect: the redirect leads to '${target}'`;
  return new ResponseError('REDIRECTED', message, response, context);
}

/** The error of a successful response whose body cannot be read. */
export function formatError(response: Response, expected: string, context: ErrorContext): ResponseError {
  const message = `Cannot read the response of ${new URL(response.url).origin}: it must be ${expected}`;
  return new ResponseError('UNKNOWN_FORMAT', message, response, context);
}
