import { requestJson } from '../ui/request.ts';
import { session } from './session/session.ts';

type OperatorRequest = Omit<NonNullable<Parameters<typeof requestJson>[1]>, 'fetch'>;

/** Sends a request of the operator's API, such as `/tenants`, and returns its JSON. */
export const operatorJson = <T>(path: string, request: OperatorRequest = {}): Promise<T> =>
  requestJson<T>(`/console/operator/v1${path}`, { ...request, fetch: session.fetch });
