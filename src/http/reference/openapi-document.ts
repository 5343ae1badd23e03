/** The parts of an OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters?: Readonly<Record<string, OpenApiParameter>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly (OpenApiParameter | Reference)[];
  readonly requestBody?: { readonly description: string; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

interface OpenApiResponse {
  readonly description: string;
  readonly content?: Readonly<Record<string, MediaType>>;
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

interface SecurityScheme {
  readonly flows?: { readonly clientCredentials?: { readonly tokenUrl: string } };
}

export const referredName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** The parameters of an operation, without references. */
export function parametersOf(document: OpenApiDocument, operation: OpenApiOperation): readonly OpenApiParameter[] {
  return (operation.parameters ?? []).flatMap((parameter) =>
    '$ref' in parameter ? (document.components.parameters?.[referredName(parameter.$ref)] ?? []) : parameter,
  );
}
