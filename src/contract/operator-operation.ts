import type { TObject, TSchema } from 'typebox';
import type { Operation } from './operations.ts';
import type { SampleRequest } from './sample-request.ts';
import type { OperatorScope } from './scope.ts';

/**
 * An operation of the operator's API below `/operator/v1`: all that its route, its description in
 * OpenAPI and its code samples need.
 */
export interface OperatorOperation extends Operation {
  /** The scope that the operator's token must have. */
  readonly scope: OperatorScope;
  /** The schemas of the query parameters, all optional. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** The JSON body. Without required members, the body may be absent. */
  readonly body?: TObject;
  readonly bodyBytesMax?: number;
  readonly response: {
    readonly status: 200 | 201;
    readonly description: string;
    readonly schema: TSchema;
    /** The name of an example in `operator-examples.ts`. */
    readonly example: string;
    /** `application/json` if absent. */
    readonly mediaType?: 'application/x-ndjson';
  };
  /** Statuses of its errors besides those that every operation has. */
  readonly errors?: readonly number[];
  /** The body or the query string of the code samples. */
  readonly sample?: Pick<SampleRequest, 'json' | 'query'>;
}
