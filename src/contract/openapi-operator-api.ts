import { referring } from './openapi-components.ts';
import { createResponses, type Json, queryParameterObjects, requestHeaders } from './openapi-responses.ts';
import type { OperatorOperation } from './operator-operation.ts';
import { idempotencyKey, pathParameters } from './operator-parameters.ts';
import type { SampleRequest } from './sample-request.ts';
import { descriptionOf, exampleOf } from './schema.ts';

const { response, problems } = createResponses(['X-Correlation-ID']);

/** Describes an operation of the operator's API. */
export function describeApiOperation(operation: OperatorOperation): Json {
  const { method, path, query, body, sample, response: success, errors = [] } = operation;
  const isPost = method === 'POST';
  return {
    security: [{ operatorToken: [] }],
    parameters: [
      ...namesIn(path).map(pathParameter),
      ...queryParameterObjects(query ?? {}),
      ...(isPost ? [keyHeader] : []),
      ...requestHeaders,
    ],
    ...(body !== undefined && {
      requestBody: {
        required: (body.required ?? []).length > 0,
        description: descriptionOf(body),
        content: { 'application/json': { schema: referring(body), ...(sample?.json && { example: sample.json }) } },
      },
    }),
    responses: {
      [success.status]: response(
        success.description,
        referring(success.schema) as Json,
        isPost ? ['Idempotency-Replayed'] : [],
        success.example,
        success.mediaType,
      ),
      ...problems(400, 401, 403, ...bodyErrors(body), ...(isPost ? [409, 422] : []), 429, 431, 500, 503, ...errors),
    },
  };
}

const keyHeader: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: descriptionOf(idempotencyKey),
  schema: idempotencyKey,
};

const bodyErrors = (body: OperatorOperation['body']): number[] => (body === undefined ? [] : [413, 415]);

/** The request of the code samples of an operation. */
export const apiSample = ({ path, sample = {} }: OperatorOperation): SampleRequest => ({
  credentials: 'operator',
  path: Object.fromEntries(namesIn(path).map((name) => [name, exampleOf(schemaOf(name))])),
  ...sample,
});

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

function schemaOf(name: string) {
  const schema = pathParameters[name];
  if (schema === undefined) throw new TypeError(`Cannot describe the path parameter '${name}': it must have a schema`);
  return schema;
}

const pathParameter = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  description: descriptionOf(schemaOf(name)),
  schema: schemaOf(name),
});
