import { expect } from 'vitest';
import { errorTable } from '../../packages/contract/error.ts';
import { type ErrorCode, type TokenErrorCode, tokenErrorStatuses } from '../../packages/contract/error-code.ts';
import type { TokenErrorBody } from '../../packages/contract/oauth/token.ts';
import type { Problem } from '../../packages/contract/problem.ts';

/**
 * Asserts that a response is a problem with this code in the documented shape; returns its body.
 */
export async function expectProblem(response: Response, code: ErrorCode): Promise<Problem> {
  const body = (await response.json()) as Problem;
  const { status, title } = errorTable[code];
  expect(body).toMatchObject({ type: code, title, status });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(body.correlation_id).toBe(response.headers.get('x-correlation-id'));
  expect(body.messages.length).toBeGreaterThan(0);
  for (const message of body.messages) expect(message).toMatch(/^Cannot /);
  expect(body.detail).toBe(body.messages.join('; '));
  for (const fault of body.errors) expect(Object.keys(fault)).toEqual(['parameter', 'value', 'rule']);
  return body;
}

/**
 * Asserts that a response of the token endpoint is an error with this code (RFC 6749 §5.2); returns
 * its body.
 */
export async function expectTokenError(response: Response, error: TokenErrorCode): Promise<TokenErrorBody> {
  const body = (await response.json()) as TokenErrorBody;
  expect(body.error).toBe(error);
  expect(response.status).toBe(tokenErrorStatuses[error]);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('pragma')).toBe('no-cache');
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  if (response.status === 401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="subreport", error="invalid_client"/);
  return body;
}
