import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../../../contract/error-code.ts';
import { parseForm } from '../../../contract/form.ts';
import type { RejectedRow } from '../../../contract/load.ts';
import type { OperatorScope } from '../../../contract/oauth/grant.ts';
import { pathParameters } from '../../../contract/operator/path-parameters.ts';
import { describeFaults, malformedFault, nameFaults } from '../../../contract/parameter-faults.ts';
import { type Fault, ProblemError, shorten } from '../../../contract/problem.ts';
import { fitsText, readWholeNumber, ruleOf } from '../../../contract/schema.ts';
import { didYouMean } from '../../../contract/suggest.ts';
import { ClientError, KeyError } from '../../auth/error.ts';
import type { OperatorAccess } from '../../auth/verify/authorize-operator.ts';
import { ImportError } from '../../import/error.ts';
import { OperatorError, type OperatorErrorCode } from '../../operator/error.ts';
import type { OperatorActor } from '../../operator/perform.ts';
import { RequestError } from '../listener/error.ts';

/** Returns the operator of a request, who has the scope, or rejects. */
export type AuthorizeOperator = (request: FastifyRequest, scope: OperatorScope) => Promise<OperatorAccess>;

/** The actor of a request by an operator, without the token. */
export const actorOf = ({ lastUsedAt: _, ...operator }: OperatorAccess, address: string): OperatorActor => ({
  kind: 'operator',
  ...operator,
  address,
});

export const logUnrecordedEnd = (request: FastifyRequest) => (error: unknown) =>
  request.log.error({ err: error }, 'the action was done, but its end could not be recorded');

/**
 * Returns path parameters. One that breaks its schema is not found: no resource has such a name,
 * and PostgreSQL would reject a NUL.
 */
export function readPath(params: unknown): Readonly<Record<string, string>> {
  const values = params as Readonly<Record<string, string>>;
  for (const [name, value] of Object.entries(values)) {
    const schema = pathParameters[name];
    if (schema !== undefined && !fitsText(schema, value))
      throw new RequestError('NOT_FOUND', `Cannot find the resource: ${name} must be ${ruleOf(schema)}`);
  }
  return values;
}

/**
 * Reads a query string by its parameters' schemas; throws `ProblemError` with every fault, also
 * those that `findMore` finds in the values.
 */
export function readQuery(
  query: string,
  schemas: Readonly<Record<string, TSchema>>,
  required: readonly string[] = [],
  findMore: (values: Readonly<Record<string, string | number>>) => readonly Fault[] = () => [],
): Readonly<Record<string, string | number>> {
  const { pairs, malformed } = parseForm(query);
  const faults: Fault[] = [...malformed.map(malformedFault), ...nameFaults(pairs, Object.keys(schemas))];
  const values: Record<string, string | number> = {};
  for (const { name, value } of pairs) {
    const schema = schemas[name];
    if (schema === undefined) continue; // already reported
    const read = readParameter(schema, value);
    if (read === undefined)
      faults.push({ parameter: name, value: shorten(value), rule: ruleOf(schema) + meant(schema, value) });
    else values[name] = read;
  }
  for (const [parameter, schema] of Object.entries(schemas))
    if (required.includes(parameter) && !pairs.some(({ name }) => name === parameter))
      faults.push({ parameter, value: null, rule: ruleOf(schema) });
  faults.push(...findMore(values));
  if (faults.length > 0) throw new ProblemError(describeFaults(faults, malformed.length > 0));
  return values;
}

function readParameter(schema: TSchema, value: string): string | number | undefined {
  if ((schema as { type?: string }).type === 'integer') return readWholeNumber(schema, value);
  const { enum: allowed } = schema as { enum?: readonly string[] };
  const isAllowed = allowed === undefined ? fitsText(schema, value) : allowed.includes(value);
  return isAllowed ? value : undefined;
}

/** The "did you mean" hint for an enum value. */
const meant = (schema: TSchema, value: string): string =>
  didYouMean(value, (schema as { enum?: readonly string[] }).enum ?? []);

const codes: Readonly<Record<OperatorErrorCode | ClientError['code'], ErrorCode>> = {
  INVALID: 'INVALID_REQUEST_PARAMS',
  FORBIDDEN: 'ACCESS_DENIED',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
};

export function rejectAction(error: unknown): never {
  if (error instanceof OperatorError || error instanceof ClientError)
    throw new RequestError(codes[error.code], error.message);
  if (error instanceof KeyError && error.code === 'CONFLICT') throw new RequestError('CONFLICT', error.message);
  if (error instanceof ImportError) throw toRequestError(error, []);
  throw error;
}

/** Longest message of a problem, in characters (`contract/problem.ts`). */
const messageMax = 2_048;

/** Turns the failure of a load into a response, which lists the rejected rows. */
export function toRequestError({ code, message }: ImportError, rejected: readonly RejectedRow[]): RequestError {
  switch (code) {
    case 'BUSY':
      return new RequestError('UNAVAILABLE', message, { headers: { 'retry-after': '10' } });
    case 'NO_ROOM':
      return new RequestError('UNAVAILABLE', message, { headers: { 'retry-after': '60' } });
    case 'NO_TENANT':
      return new RequestError('NOT_FOUND', message);
    case 'TOO_LARGE':
      return new RequestError('PAYLOAD_TOO_LARGE', message);
    case 'REMOVES_MANY':
      return new RequestError('CONFLICT', message);
    case 'OVER_BUDGET':
      return new RequestError('STORAGE_BUDGET_EXCEEDED', message);
    default:
      return new RequestError('INVALID_HTTP_MESSAGE', message, { more: rejected.map(rowMessage) });
  }
}

function rowMessage({ line, errors }: RejectedRow): string {
  const faults = errors.map(({ field, rule }) => `${field === '' ? 'the row' : field} must be ${rule}`);
  return `line ${line}: ${faults.join('; ')}`.slice(0, messageMax);
}
