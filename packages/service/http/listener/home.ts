import type { FastifyInstance } from 'fastify';
import { type Operation, operations } from '../../../contract/operations.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { escapeHtml, type Listener, plainPage, plainPageHeaders } from './plain-page.ts';
import { preferredType } from './preferred-type.ts';

/** A resource that `/` names. */
interface HomeLink {
  /** Its member in the JSON. */
  readonly name: string;
  readonly label: string;
  readonly path: string;
  /** What people find there, for the links that the page begins with. */
  readonly hint?: string;
  /** Method of an operation that needs credentials, so a browser cannot follow a link to it. */
  readonly method?: string;
}

const webConsole = (hint: string): HomeLink => ({ name: 'console', label: 'Open the console', path: '/console', hint });
const docs: HomeLink = {
  name: 'docs',
  label: 'API reference',
  path: '/docs',
  hint: 'Every operation, with samples and a form to try it',
};
const page = (name: string, { summary, path }: Operation): HomeLink => ({ name, label: summary, path });
const request = (name: string, operation: Operation): HomeLink => ({
  ...page(name, operation),
  method: operation.method,
});
const openapi = page('openapi', operations.getOpenapi);
const checks = [page('health', operations.getHealth), page('readiness', operations.getReadiness)];

/** The resources of the public listener. */
export const publicLinks = (hasConsole: boolean): readonly HomeLink[] => [
  ...(hasConsole ? [webConsole('See, filter, count and export your subscriptions')] : []),
  docs,
  openapi,
  page('metadata', operations.getAuthorizationServerMetadata),
  request('token', operations.issueToken),
  request('report', operations.listSubscriptions),
  ...checks,
];

/** The resources of the management listener. */
export const operatorLinks = (hasConsole: boolean): readonly HomeLink[] => [
  ...(hasConsole ? [webConsole('Health, tenants, clients, imports, keys and the audit log')] : []),
  docs,
  openapi,
  request('load', operatorOperations.loadSubscriptions),
  page('metrics', operatorOperations.getMetrics),
  ...checks,
];

/** What a listener serves. */
interface Home {
  readonly listener: Listener;
  readonly title: string;
  readonly summary: string;
  /** URL of the listener, such as `https://reports.example.com`; empty if it is not known. */
  readonly baseUrl: string;
  readonly links: readonly HomeLink[];
}

/** Adds `/`: a page with links for browsers, and the URLs as JSON for other clients. */
export function addHomeRoute(app: FastifyInstance, home: Home): void {
  const json = Object.fromEntries(home.links.map(({ name, path }) => [name, home.baseUrl + path]));
  const page = writePage(home);
  app.get('/', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-cache', vary: 'Accept' });
    if (preferredType(request, ['application/json', 'text/html']) !== 'text/html') return json;
    return reply.headers(plainPageHeaders).send(page);
  });
}

function writePage({ listener, title, summary, baseUrl, links }: Home): string {
  // a relative link also works behind a proxy that adds a prefix to the path
  const doors = links.flatMap(({ label, path, hint }) =>
    hint === undefined ? [] : `<a href=".${path}"><b>${label}</b><small>${hint}</small></a>`,
  );
  const others = links.filter(({ hint }) => hint === undefined);
  const rows = others.map(({ label, path, method }) => {
    const target =
      method === undefined ? `<a href=".${path}">${path}</a>` : `<code>${method} ${escapeHtml(baseUrl)}${path}</code>`;
    return `<dt>${label}</dt><dd>${target}</dd>`;
  });
  return plainPage(
    `${title} · subreport`,
    `<h1>${title}</h1>
<p>${summary}</p>
<nav aria-label="Start here">
${doors.join('\n')}
</nav>
<h2>For programs</h2>
<dl>
${rows.join('\n')}
</dl>`,
    listener,
  );
}
