import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { OperatorAccess } from '../../auth/authorize-operator.ts';
import { idempotencyKey } from '../../contract/operator-parameters.ts';
import { describeFaults } from '../../contract/parameter-faults.ts';
import { ProblemError } from '../../contract/problem-error.ts';
import { fitsText, ruleOf } from '../../contract/schema.ts';
import { shorten } from '../../contract/shorten.ts';
import type { KeyedRequest } from '../../operator/perform-once.ts';

/** The name of the header, as Node has it. */
const header = 'idempotency-key';

/**
 * Reads the `Idempotency-Key` of a request; `undefined` if it has none. Throws `ProblemError` if it
 * is not valid.
 */
export function keyedRequestOf(
  request: FastifyRequest,
  operation: string,
  { id, token }: OperatorAccess,
): KeyedRequest | undefined {
  const value = request.headers[header];
  if (value === undefined) return undefined;
  const key = keyOf(String(value));
  return { operatorId: id, token, operation, key, fingerprint: fingerprintOf(request) };
}

/** The key without the quotes that make it a string of a structured field (RFC 9651 §3.3.3). */
function keyOf(value: string): string {
  const key = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (fitsText(idempotencyKey, key)) return key;
  const fault = { parameter: 'Idempotency-Key', value: shorten(value), rule: ruleOf(idempotencyKey) };
  throw new ProblemError(describeFaults([fault], false));
}

/** Hash of the path and the body: a request with the same key must have the same. */
const fingerprintOf = ({ url, body }: FastifyRequest): string =>
  createHash('sha256')
    .update(`${url}\n`)
    .update((body as Buffer | undefined) ?? '')
    .digest('base64url');
