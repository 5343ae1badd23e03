import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { type ContentCoding, compress, preferredCoding } from '../listener/content-encoding.ts';
import type { Listener } from '../listener/home.ts';
import { escapeHtml, logo } from '../listener/plain-page.ts';
import { type Deployment, type JsonSchema, type OpenApiDocument, readOpenApi } from './openapi-document.ts';
import {
  htmlCode,
  htmlTable,
  isErrorCode,
  type PathOperation,
  renderOperation,
  renderType,
  textOf,
} from './reference-operation.ts';

/** The API reference of a listener. */
interface DocsOptions extends Deployment {
  readonly listener: Listener;
  readonly title: string;
}

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Written by `npm run build`; without them, the page has no style and no search. */
const style = new URL('../../../../dist/console/reference/reference.css', import.meta.url);
const script = new URL('../../../../dist/console/reference/reference.js', import.meta.url);

/** Adds the OpenAPI document at `/openapi.json`, and a page of it at `/docs`. */
export async function addDocsRoutes(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const document = readOpenApi(options.listener, options);
  const sendJson = sender('application/json', JSON.stringify(document));
  const sendPage = sender('text/html', renderReference(document, options));
  app.get(operations.getOpenapi.path, sendJson);
  for (const path of ['/docs', '/docs/'])
    app.get(path, (request, reply) =>
      sendPage(request, reply.header('content-security-policy', contentSecurityPolicy)),
    );
  if (!existsSync(script)) return;
  const sendFile = (path: string, type: string, file: URL) =>
    app.get(path, async (_request, reply) => reply.headers(headersOf(type)).send(await readFile(file, 'utf8')));
  sendFile('/docs/reference.css', 'text/css', style);
  sendFile('/docs/reference.js', 'text/javascript', script);
}

const headersOf = (type: string) => ({ 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' });

/**
 * Sends a text that does not change, in the coding that the browser prefers. It is compressed once
 * per coding, because anybody can request it: 142 kB of HTML take 1 to 3 ms.
 */
function sender(type: string, text: string) {
  const body = Buffer.from(text);
  const compressed = new Map<ContentCoding, Promise<Buffer>>();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.headers({ ...headersOf(type), vary: 'Accept-Encoding' });
    const coding = preferredCoding(request.headers['accept-encoding']);
    if (coding === undefined) return reply.send(body);
    const coded = compressed.get(coding) ?? compress(coding, body);
    compressed.set(coding, coded);
    return reply.header('content-encoding', coding).send(await coded);
  };
}

/** Renders the API reference. A script adds the search; it can be read without. */
function renderReference(document: OpenApiDocument, { title, listener }: DocsOptions): string {
  const { info, tags, components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const errors = Object.entries(components.examples).filter(([name]) => isErrorCode(name));
  return `<!doctype html>
<html lang="en" data-console="${listener}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(info.description)}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/reference.css">
<script type="module" src="/docs/reference.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the operations</a>
<header><h1>${logo}<a href="/">subreport</a> <span>${listener === 'report' ? 'API' : 'operator API'}</span></h1>
<p>Version ${escapeHtml(info.version)} · <a href="/openapi.json">openapi.json</a></p></header>
<div class="columns">
<nav aria-label="Operations">
<label>Search <input type="search" id="search" placeholder="parameter, path or word"></label>
<p id="found" role="status"></p>
${groups.map(({ name, operations: members }) => `<h2>${escapeHtml(name)}</h2><ul>${members.map(renderLink).join('')}</ul>`).join('\n')}
<h2>more</h2><ul><li><a href="#schemas">Objects</a></li><li><a href="#errors">Errors</a></li></ul>
</nav>
<main id="main">
<p>${escapeHtml(info.description)}</p>
${groups
  .map(
    ({ name, description, operations: members }) =>
      `<section aria-label="${escapeHtml(name)}"><h2>${escapeHtml(description)}</h2>${members.map((each) => renderOperation(document, each)).join('\n')}</section>`,
  )
  .join('\n')}
<section id="schemas"><h2>Objects</h2>${Object.entries(components.schemas).map(renderSchema).join('\n')}</section>
<section id="errors"><h2>Errors</h2>${errors
    .map(
      ([name, { value }]) =>
        `<section id="example-${name}"><h3><code>${name}</code></h3>${htmlCode(`Example: ${name}`, textOf(value))}</section>`,
    )
    .join('\n')}</section>
</main>
</div>
</body>
</html>
`;
}

const renderLink = ({ method, operation: { operationId, summary } }: PathOperation): string =>
  `<li><a href="#${operationId}"><span class="method">${method}</span> ${escapeHtml(summary)}</a></li>`;

function renderSchema([name, schema]: [string, JsonSchema]): string {
  const { description = '', properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).map(([property, value]) => [
    `<code>${escapeHtml(property)}</code>${required.includes(property) ? '' : ' (optional)'}`,
    renderType(value),
    escapeHtml(value.description ?? ''),
  ]);
  return `<section id="schema-${name}"><h3>${name}</h3><p>${escapeHtml(description)}</p>${htmlTable(['member', 'type', 'meaning'], rows)}</section>`;
}
