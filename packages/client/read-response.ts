import { errorStatuses, tokenErrorStatuses } from '../contract/error-code.ts';
import {
  ApiError,
  type ErrorContext,
  type Problem,
  ResponseError,
  type ResponseErrorCode,
  TokenRequestError,
} from './error.ts';

/** Most bytes of a response: 10,000 records, the largest page that an operator can allow. */
const pageBytesMax = 32 * 2 ** 20;
/** Most bytes of any other response. */
const bytesMax = 2 ** 20;

/** Parses the body of a response; throws if it is not JSON. */
export async function readJson<T>(response: Response, context: ErrorContext): Promise<T> {
  const body = await readShortJson<T>(response, context, pageBytesMax);
  if (body === undefined) throw formatError(response, 'JSON', context);
  return body;
}

/** Parses the body of a short response; `undefined` if it is not JSON. */
export async function readShortJson<T>(response: Response, context: ErrorContext, max = bytesMax) {
  const text = await readText(response, context, max);
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** Reads a body up to a number of bytes after decompression; throws if there are more. */
async function readText(response: Response, context: ErrorContext, max: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > max) {
      reader?.cancel().catch(() => undefined); // the connection is closed in any case
      throw formatError(response, `at most ${max} bytes`, context);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Makes the error of a response that is not successful; `hint` ends its message. */
export type ReadRejection = (response: Response, context: ErrorContext, hint?: string) => Promise<Error>;

/** The error of the API: a problem document (RFC 9457) of the error table. */
export const readProblem: ReadRejection = async (response, context, hint = '') => {
  const problem: Partial<Problem> = (await readShortJson(response, context)) ?? {};
  const { type, correlation_id: correlationId = context.correlationId } = problem;
  if (!isIn(errorStatuses, type)) return unknownError(response, 'a problem document (RFC 9457)', context, hint);
  return new ApiError(type, problem as Problem, response, { ...context, correlationId }, hint);
};

/** The error of the token endpoint (RFC 6749 §5.2), without the secrets that were sent to it. */
export async function readTokenError(
  response: Response,
  context: ErrorContext,
  secrets: readonly string[],
): Promise<Error> {
  const body: { error?: string; error_description?: string } = (await readShortJson(response, context)) ?? {};
  const { error, error_description: text = error } = body;
  if (!isIn(tokenErrorStatuses, error)) return unknownError(response, 'an error of RFC 6749 section 5.2', context);
  const masked = secrets.reduce((left, secret) => left.replaceAll(secret, '***'), String(text));
  return new TokenRequestError(error, masked, response, context);
}

const isIn = <Table extends object>(table: Table, code: unknown): code is keyof Table =>
  Object.hasOwn(table, String(code));

function unknownError(response: Response, expected: string, context: ErrorContext, hint = ''): ResponseError {
  return formatError(response, `${expected}: its status was ${response.status}${hint}`, context, 'UNKNOWN_ERROR');
}

/** The error of a redirect, which is never followed because it could send secrets elsewhere. */
export function redirectError(url: string, response: Response, context: ErrorContext): ResponseError {
  // browsers hide it; its query and its user may be secret
  const target = (response.headers.get('location') ?? 'unknown').replace(/[?#].*|[^/?#]*@/g, '');
  const message = `Cannot use ${new URL(url).origin}: it must not redirect: the redirect leads to '${target}'`;
  return new ResponseError('REDIRECTED', message, response, context);
}

/** The error of a response, by default a successful one, whose body cannot be read. */
export function formatError(
  response: Response,
  expected: string,
  context: ErrorContext,
  code: ResponseErrorCode = 'UNKNOWN_FORMAT',
): ResponseError {
  const message = `Cannot read the response of ${new URL(response.url).origin}: it must be ${expected}`;
  return new ResponseError(code, message, response, context);
}
