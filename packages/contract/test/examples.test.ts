import { readFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { exampleSubscription, namedExamples } from '../../../tools/openapi/examples.ts';
import { writePage } from '../../service/report/write-records.ts';
import { changesPage } from '../change.ts';
import { ChangesSummary } from '../changes-summary.ts';
import { errorTable } from '../error.ts';
import { tokenErrorStatuses } from '../error-code.ts';
import { SubscriptionFindings } from '../findings.ts';
import { LoadSummary } from '../load.ts';
import { IntrospectionResponse, TokenErrorBody, TokenResponse } from '../oauth/token.ts';
import { Problem } from '../problem.ts';
import { defaultPageLimits } from '../report.ts';
import { Subscription } from '../subscription.ts';
import { SubscriptionSummary } from '../summary.ts';

interface MediaType {
  readonly examples?: Record<string, { readonly $ref: string }>;
}
interface OpenApiDocument {
  readonly paths: Record<
    string,
    Record<string, { operationId: string; responses: Record<string, { content?: Record<string, MediaType> }> }>
  >;
}

const documents = ['openapi.json', 'openapi-operator.json'].map(
  (name) => JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')) as OpenApiDocument,
);

/** The media types of all responses, titled by operation, status and media type. */
const mediaTypes = documents.flatMap(({ paths }) =>
  Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, media]) => ({ title: `${operationId} ${status} ${type}`, status, media })),
      ),
    ),
);

const schemas: Readonly<Record<string, TSchema>> = {
  subscription: Subscription,
  summary: SubscriptionSummary,
  findings: SubscriptionFindings,
  changesSummary: ChangesSummary,
  changes: changesPage(defaultPageLimits),
  tokenResponse: TokenResponse,
  introspection: IntrospectionResponse,
  load: LoadSummary,
  ...Object.fromEntries(Object.keys(errorTable).map((code) => [code, Problem])),
  ...Object.fromEntries(Object.keys(tokenErrorStatuses).map((code) => [code, TokenErrorBody])),
};

describe('the examples of the OpenAPI documents', () => {
  test.each(Object.entries(schemas))('the example %s fits its schema', (name, schema) => {
    expect(Check(schema, namedExamples[name])).toBe(true);
  });

  test('every response with a body has an example, except documents of other standards and binary ones', () => {
    const documentsOfOthers = /^(getKeySet|getAuthorizationServerMetadata|getOpenidConfiguration|getOpenapi) 200/;
    const without = mediaTypes.filter(
      ({ title, media }) => !documentsOfOthers.test(title) && !media.examples && !title.endsWith('parquet'),
    );
    expect(without.map(({ title }) => title)).toEqual([]);
  });

  test('each problem response has an example of every code of its status, except that of the consoles', () => {
    for (const { title, status, media } of mediaTypes.filter(({ title }) => title.endsWith('problem+json'))) {
      const codes = Object.entries(errorTable).flatMap(([code, kind]) => (String(kind.status) === status ? code : []));
      expect(Object.keys(media.examples ?? {}), title).toEqual(codes.filter((code) => code !== 'SESSION_ENDED'));
    }
  });

  test('the CSV and NDJSON examples are what the service writes for the example record', () => {
    const stored = { bytes: Buffer.from(`${JSON.stringify(exampleSubscription)}\n`), count: 1 };
    expect(namedExamples.recordsCsv).toBe(writePage({ format: 'csv' }, stored).toString());
    expect(namedExamples.recordsNdjson).toBe(writePage({ format: 'ndjson' }, stored).toString());
  });
});
