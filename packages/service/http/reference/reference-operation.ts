import { escapeHtml } from '../listener/plain-page.ts';
import {
  type JsonSchema,
  type MediaType,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiParameter,
  parametersOf,
  referredName,
} from './openapi-document.ts';

export interface PathOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

/** Renders an operation: what it does, samples, its parameters and responses. */
export function renderOperation(document: OpenApiDocument, { method, path, operation }: PathOperation): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const parameters = parametersOf(document, operation);
  return `<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<h3 id="${operationId}-title">${escapeHtml(summary)}</h3>
<p class="route"><span class="method">${method}</span> <code>${escapeHtml(path)}</code></p>
<p>${escapeHtml(description)}</p>
<h4>Samples</h4>
${renderSamples(operation)}
${parameters.length === 0 ? '' : `<h4>Parameters</h4>${renderParameters(parameters)}`}
${requestBody === undefined ? '' : `<h4>Request body</h4><p>${escapeHtml(requestBody.description)}</p>${renderContent(document, requestBody.content)}`}
<h4>Responses</h4>
${Object.entries(responses)
  .map(([status, { description: meaning, content = {} }]) => {
    const isOpen = status === '200' ? ' open' : '';
    return `<details${isOpen}><summary><b>${status}</b> ${escapeHtml(meaning)}</summary>${renderContent(document, content)}</details>`;
  })
  .join('\n')}
</section>`;
}

function renderSamples({ operationId, 'x-codeSamples': samples }: OpenApiOperation): string {
  const list = samples
    .map(
      ({ label, source }, index) =>
        `<details class="sample" name="sample-${operationId}"${index === 0 ? ' open' : ''}><summary>${label}</summary>${htmlCode(`${label}: ${operationId}`, source)}</details>`,
    )
    .join('\n');
  return `<div class="samples">${list}</div>`;
}

const renderParameters = (parameters: readonly OpenApiParameter[]): string =>
  htmlTable(
    ['name', 'in', 'type', 'meaning'],
    parameters.map(({ name, in: place, required = false, description, schema }) => [
      `<code>${escapeHtml(name)}</code>${required ? ' (required)' : ''}`,
      place,
      renderType(schema),
      escapeHtml(description) + renderDefault(schema),
    ]),
  );

const renderDefault = ({ default: value }: JsonSchema): string =>
  value === undefined ? '' : `. Default: <code>${escapeHtml(String(value))}</code>`;

/** The type of a schema in a few words, with a link to a named schema. */
export function renderType(schema: JsonSchema): string {
  if (schema.$ref !== undefined) {
    const name = referredName(schema.$ref);
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(renderType).join(' or ');
  if (schema.items !== undefined) return `array of ${renderType(schema.items)}`;
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ');
  return schema.format === undefined ? (schema.type ?? 'any') : `${schema.type} (${schema.format})`;
}

/** The media types of a body with an example each; problems are examples of their own section. */
function renderContent(document: OpenApiDocument, content: Readonly<Record<string, MediaType>>): string {
  return Object.entries(content)
    .map(([mediaType, media]) => {
      const head = `<p><code>${mediaType}</code>: ${renderType(media.schema)}</p>`;
      const names = Object.values(media.examples ?? {}).map(({ $ref }) => referredName($ref));
      if (names.some(isErrorCode)) {
        const links = names.map((name) => `<a href="#example-${name}"><code>${name}</code></a>`);
        return `${head}<p>Examples: ${links.join(', ')}</p>`;
      }
      const examples = names.map((name) => document.components.examples[name]?.value);
      if (media.example !== undefined) examples.push(media.example);
      return head + examples.map((example) => htmlCode(`Example: ${mediaType}`, textOf(example))).join('');
    })
    .join('\n');
}

/** Names of examples that are error codes: of a problem, or of the token endpoint. */
export const isErrorCode = (name: string): boolean => /^[A-Z_]+$|^[a-z]+_[a-z_]+$/.test(name);

/** An example as text: a body that is not JSON is a string. */
export const textOf = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example, null, 2);

/** A heading row and the rows of a table, whose cells are HTML. */
export function htmlTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]) => row.map((cell) => `<td>${cell}</td>`).join('');
  const head = headings.map((heading) => `<th scope="col">${heading}</th>`).join('');
  const label = escapeHtml(headings.join(', '));
  return `<div class="scroll" role="group" tabindex="0" aria-label="Table: ${label}"><table><thead><tr>${head}</tr></thead><tbody>${rows
    .map((row) => `<tr>${cells(row)}</tr>`)
    .join('')}</tbody></table></div>`;
}

/** Preformatted text that can be scrolled with the keyboard. */
export const htmlCode = (label: string, text: string): string =>
  `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;
