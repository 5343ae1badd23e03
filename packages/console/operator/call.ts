import type { RejectedRow } from '../../contract/load.ts';
import type { OperatorOperation } from '../../contract/operator/operation.ts';
import {
  type OperatorApiId,
  type OperatorBody,
  type OperatorResponse,
  operatorApi,
} from '../../contract/operator/operations.ts';
import { RequestError, requestJson } from '../ui/request.ts';
import { urlOf } from './routes.ts';
import { session } from './session/session.ts';

/** What an operation is called with. */
export interface Input<Id extends OperatorApiId> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: OperatorBody<Id>;
  /** Whether the page sends it on its own, which does not extend the session. */
  readonly isBackground?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Operations that end when all their work is done; a check of the store ends after an hour. */
const longOperations: readonly OperatorApiId[] = ['deleteTenant', 'eraseSubscriptions', 'runDoctor'];
const longMs = 3_900_000;

/** Calls an operation of the operator's API with JSON. Rejects with `RequestError`. */
export function call<Id extends OperatorApiId>(id: Id, input: Input<Id> = {}): Promise<OperatorResponse<Id>> {
  const { params, query, body, isBackground = false, signal } = input;
  const { method, path, body: schema }: OperatorOperation = operatorApi[id];
  return requestJson(urlOf(path, params, query), {
    method,
    ...(body !== undefined && schema !== undefined && { body }),
    background: isBackground,
    ...(signal !== undefined && { signal }),
    fetch: longOperations.includes(id) ? (url, init) => session.fetch(url, init, longMs) : session.fetch,
  });
}

/** Reads the rejected rows of an import, which are NDJSON. */
export async function readRejectedRows(importId: string, signal: AbortSignal): Promise<RejectedRow[]> {
  const response = await session.fetch(urlOf(operatorApi.getImportErrors.path, { import_id: importId }), { signal });
  const text = await response.text();
  if (response.ok) return JSON.parse(`[${text.trim().replaceAll('\n', ',')}]`);
  throw new RequestError(response.status, parseProblem(text), response.headers.get('x-correlation-id') ?? undefined);
}

/** Parses the body of an error; a proxy may send something else than a problem. */
export function parseProblem(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}
