import { readFileSync } from 'node:fs';
import { reportParameters } from '../../../contract/query.ts';
import { defaultPageLimits, type PageLimits } from '../../../contract/report.ts';

/** The committed document of each listener, in the root of the repository and of the package. */
const files = {
  report: new URL('../../../../openapi.json', import.meta.url),
  operator: new URL('../../../../openapi-operator.json', import.meta.url),
};

/** The values that differ between deployments. */
export interface Deployment {
  readonly publicUrl: string;
  /** The default ones if absent: the operator's API has limits of its own. */
  readonly limits?: PageLimits;
}

/** The URL of the service in the committed documents. */
const exampleUrl = 'https://reports.example.com';

/** Reads a committed document, with the URL and the limits of this deployment. */
export function readOpenApi(
  listener: keyof typeof files,
  { publicUrl, limits = defaultPageLimits }: Deployment,
): OpenApiDocument {
  const committed = reportParameters(defaultPageLimits);
  const own = reportParameters(limits);
  return JSON.parse(readFileSync(files[listener], 'utf8'), function (this: JsonSchema, name, value) {
    if (typeof value === 'string') return value.replaceAll(exampleUrl, () => publicUrl);
    // pages; the lists of a search are not empty
    const isPage = name === 'maxItems' && !('minItems' in this);
    if (isPage && value === defaultPageLimits.sizeMax) return limits.sizeMax;
    const paging = pagingParameters.find((each) => value?.['x-rule'] === ruleIn(committed[each]));
    return paging === undefined ? value : { ...value, ...own[paging], description: value.description };
  });
}

/** The parameters whose schemas differ with the limits. */
const pagingParameters = ['size', 'page'] as const;

const ruleIn = (schema: object) => (schema as { 'x-rule'?: string })['x-rule'];

/** The parts of an OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters?: Readonly<Record<string, OpenApiParameter>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (OpenApiParameter | Reference)[];
  readonly requestBody?: { readonly description: string; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, MediaType>> }>
  >;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Reference>>;
}

/** A schema, or a reference to a named one. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

interface Reference {
  readonly $ref: string;
}

export const referredName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** The parameters of an operation, without references. */
export function parametersOf(document: OpenApiDocument, operation: OpenApiOperation): readonly OpenApiParameter[] {
  return (operation.parameters ?? []).flatMap((parameter) =>
    '$ref' in parameter ? (document.components.parameters?.[referredName(parameter.$ref)] ?? []) : parameter,
  );
}
