import { randomUUID } from 'node:crypto';
import type { OperatorOperation } from '../../contract/operator-operation.ts';
import { type OperatorApiId, operatorApi } from '../../contract/operator-operations.ts';
import type { CallOperation } from '../call-operation.ts';
import { responseError } from './rejection.ts';
import { send } from './send.ts';
import type { Server } from './server.ts';

/** Operations that end when all their work is done. */
const longOperations: readonly OperatorApiId[] = ['deleteTenant', 'eraseSubscriptions', 'runDoctor'];

/** Longest wait for a response, in milliseconds: `doctor` ends after an hour. */
const longMs = 3_900_000;
/** For other operations: REQUEST_SECONDS_MAX is at most 60. */
const shortMs = 120_000;

/** Makes the function that calls the operations of a server. */
export const callOn =
  (server: Server): CallOperation =>
  async (id, { params = {}, query = {}, body } = {}) => {
    const { method, path, response }: OperatorOperation = operatorApi[id];
    const text = await send(server, {
      method,
      path: pathOf(path, params) + queryOf(query),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
      },
      body: body && JSON.stringify(body),
      silenceMs: longOperations.includes(id) ? longMs : shortMs,
      isRepeatable: method !== 'DELETE', // a repeated deletion would find nothing
    });
    return (response.mediaType === undefined ? parseJson(server, text) : text) as never;
  };

/** Replaces each `{name}` of a path. */
export const pathOf = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

/** The query string with the given parameters; empty if there are none. */
export function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Parses the body of a successful response. */
export function parseJson(server: Server, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw responseError(server, 'its body is not JSON');
  }
}
