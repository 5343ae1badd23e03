import { LoadSummary, loadMediaTypes, loadParameters } from '../../packages/contract/load.ts';
import type { OperatorOperation } from '../../packages/contract/operator/operation.ts';
import {
  type OperatorApiId,
  type OperatorOperationId,
  operatorApi,
  operatorOperations,
} from '../../packages/contract/operator/operations.ts';
import { pathParameters } from '../../packages/contract/operator/path-parameters.ts';
import { descriptionOf, exampleOf } from '../../packages/contract/schema.ts';
import { codeSamples, type SampleRequest, sampleRequests } from './code-samples.ts';
import { operatorSecuritySchemes, referring, usedComponents } from './components.ts';
import { exampleCsv, exampleLine } from './examples.ts';
import { type OpenApiOptions, openApiPaths } from './openapi.ts';
import {
  createResponses,
  examplesOf,
  type Json,
  queryParameterObjects,
  requestHeaders,
  schemaRef,
} from './responses.ts';

/** The management listener with its default settings, for code samples. */
const managementUrl = 'http://127.0.0.1:9464';

/** Builds the OpenAPI 3.1 document of the management listener from the contract. */
export function buildOperatorOpenApi({ publicUrl, version }: Omit<OpenApiOptions, 'limits'>): Json {
  const paths = openApiPaths(operatorOperations, (operationId) =>
    isApiOperation(operationId)
      ? {
          ...describeApiOperation(operatorApi[operationId]),
          ...samplesOf(operationId, apiSample(operatorApi[operationId])),
        }
      : { ...describeOperation(operationId), ...samplesOf(operationId, sampleRequests[operationId]) },
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'subreport: the operator',
      version,
      description: `The management listener of the subscription reporting service at ${publicUrl}: the API for its operator. Keep it on a private network.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this service', url: publicUrl },
    },
    // its address depends on MANAGEMENT_HOST and MANAGEMENT_PORT, and on the proxy in front of it
    servers: [{ url: '/', description: 'The management listener, in production and local', 'x-internal': true }],
    tags: [
      { name: 'records', description: 'Load and erase records' },
      { name: 'tenants', description: 'Create, list and delete tenants' },
      { name: 'clients', description: 'Manage the clients that may request tokens' },
      { name: 'keys', description: 'List and rotate the keys of the service' },
      { name: 'imports', description: 'Read the history of imports' },
      { name: 'audit', description: 'Read the audit log' },
      { name: 'operators', description: "Manage operators' tokens" },
      { name: 'service', description: 'Health and description of the service' },
    ],
    paths,
    components: { securitySchemes: operatorSecuritySchemes, ...usedComponents(paths) },
  };
}

const { headerRefs, response, problems, publicDocument } = createResponses(['X-Correlation-ID']);

const samplesOf = (operationId: OperatorOperationId, request: SampleRequest): Json => ({
  'x-codeSamples': codeSamples(managementUrl, operatorOperations[operationId], request),
});

const isApiOperation = (operationId: OperatorOperationId): operationId is OperatorApiId => operationId in operatorApi;

function describeOperation(operationId: Exclude<OperatorOperationId, OperatorApiId>): Json {
  switch (operationId) {
    case 'loadSubscriptions':
      return {
        security: [{ operatorToken: [] }, { accessToken: [] }],
        parameters: [tenantParameter, ...queryParameterObjects(loadParameters), contentEncoding, ...requestHeaders],
        requestBody: {
          required: true,
          description:
            'The records as NDJSON, one JSON object per line, or as CSV with a header row (RFC 4180, UTF-8); a row has at most 16 KiB. See docs/operators/import.md',
          content: {
            [loadMediaTypes.ndjson]: { schema: recordLines, example: exampleLine },
            [loadMediaTypes.csv]: { schema: recordTable, example: exampleCsv },
          },
        },
        responses: {
          200: response('What was loaded', referring(LoadSummary) as Json, [], 'load'),
          ...problems(401, 403, 404, 409, 413, 415, 503),
        },
      };
    case 'getMetrics':
      return { security: [], responses: { 200: metricsText, ...problems(503) } };
    case 'getHealth':
      return publicDocument('The process is alive', schemaRef('Health'), { example: 'health' });
    case 'getReadiness':
      return publicDocument('Reports can be served', schemaRef('Health'), { example: 'health', otherStatuses: [503] });
    case 'getOpenapi':
      return publicDocument('The document', { type: 'object', description: 'An OpenAPI 3.1 document' });
  }
}

const metricsText = {
  description: 'The metrics; docs/operators/metrics.md lists them',
  headers: headerRefs(),
  content: {
    'text/plain': {
      schema: { type: 'string', description: 'The text format of Prometheus', maxLength: 10_000_000, pattern: '^#' },
      ...examplesOf('metrics'),
    },
  },
};

const tenantParameter = {
  name: 'tenant',
  in: 'path',
  required: true,
  description: "Any tenant with an operator's token; with a client's access token, the tenant of the client",
  schema: LoadSummary.properties.tenant,
  example: 'acme',
};

const contentEncoding = {
  name: 'Content-Encoding',
  in: 'header',
  description: 'Compression of the body (RFC 9110 §8.4)',
  schema: { type: 'string', enum: ['gzip', 'zstd'], examples: ['gzip'] },
};

const recordTable = {
  type: 'string',
  description: 'The columns of a CSV report, and an optional email',
  pattern: '^[^\\u0000]*$',
  maxLength: Number.MAX_SAFE_INTEGER,
};

const recordLines = {
  type: 'string',
  description: 'One record per line, as in the report, with an optional email',
  pattern: '^([{]|$)',
  maxLength: Number.MAX_SAFE_INTEGER,
};

/** Describes an operation of the operator's API. */
function describeApiOperation(operation: OperatorOperation): Json {
  const { method, path, query, requiredQuery, body, sample, response: success, errors = [] } = operation;
  const isPost = method === 'POST';
  return {
    security: [{ operatorToken: [] }],
    parameters: [
      ...namesIn(path).map(pathParameter),
      ...queryParameterObjects(query ?? {}, requiredQuery),
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
        descriptionOf(success.schema),
        referring(success.schema) as Json,
        [],
        success.example,
        success.mediaType,
      ),
      // also of a body that an operation does not need
      ...problems(
        401,
        403,
        ...(method === 'GET' ? [] : [413, 415]),
        ...(isPost ? [409] : []),
        503,
        ...(path.includes('{') ? [404] : []),
        ...errors,
      ),
    },
  };
}

/** The request of the code samples of an operation. */
const apiSample = ({ path, sample = {} }: OperatorOperation): SampleRequest => ({
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
