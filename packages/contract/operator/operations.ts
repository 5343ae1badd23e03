import type { Static, TObject, TSchema } from 'typebox';
import { loadOperation } from '../load.ts';
import { type Operation, operations } from '../operations.ts';
import { auditOperations } from './audit.ts';
import { clientOperations } from './client-operations.ts';
import { doctorOperations } from './doctor.ts';
import { healthOperations } from './health.ts';
import { importOperations } from './import.ts';
import { keyOperations } from './key.ts';
import { settingOperations } from './setting.ts';
import { tenantOperations } from './tenant.ts';
import { operatorTokenOperations } from './token.ts';

/** The operations of the operator's API that operators' tokens authorize. */
export const operatorApi = {
  ...tenantOperations,
  ...clientOperations,
  ...keyOperations,
  ...importOperations,
  ...doctorOperations,
  ...healthOperations,
  ...settingOperations,
  ...operatorTokenOperations,
  ...auditOperations,
} as const;

/** Name of an operation of the operator's API. */
export type OperatorApiId = keyof typeof operatorApi;

type Table = typeof operatorApi;

/** The checked body of an operation. */
export type OperatorBody<Id extends OperatorApiId> = Table[Id] extends { readonly body: infer B extends TObject }
  ? Static<B>
  : undefined;

/** The body of the response of an operation. */
export type OperatorResponse<Id extends OperatorApiId> = Table[Id] extends {
  readonly response: { readonly schema: infer S extends TSchema };
}
  ? Static<S>
  : never;

/** What an operation is called with. */
export interface OperatorInput<Id extends OperatorApiId> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: Optional<OperatorBody<Id>>;
}

type Optional<T> = { readonly [Name in keyof T]: T[Name] | undefined };

/** Calls an operation of the operator's API, in the store or on a server. */
export type CallOperation = <Id extends OperatorApiId>(
  id: Id,
  input?: OperatorInput<Id>,
) => Promise<OperatorResponse<Id>>;

/** Every operation of the management listener by name. */
export const operatorOperations = {
  loadSubscriptions: loadOperation,
  ...operatorApi,
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'service',
    summary: 'Get the metrics',
    description:
      'Returns the metrics of all processes of the service in the text format of Prometheus. The metrics have no label of a tenant, a client or a URL.',
  },
  getHealth: operations.getHealth,
  getReadiness: operations.getReadiness,
  getOpenapi: operations.getOpenapi,
} as const satisfies Record<string, Operation>;

/** Name of an operation of the management listener. */
export type OperatorOperationId = keyof typeof operatorOperations;
