import type { FastifyInstance } from 'fastify';
import type { HomeLink } from './home-links.ts';
import { escapeHtml } from './html.ts';
import { plainPage, plainPageHeaders } from './plain-page.ts';

/** What a listener serves. */
interface Home {
  readonly title: string;
  readonly summary: string;
  /** URL of the listener, such as `https://reports.example.com`; empty if it is not known. */
  readonly baseUrl: string;
  readonly links: readonly HomeLink[];
}

/**
 * Adds `/`: a page with links for browsers, and the URLs as JSON for other clients.
 * `@fastify/accepts` must be registered.
 */
export function addHomeRoute(app: FastifyInstance, home: Home): void {
  const json = Object.fromEntries(home.links.map(({ name, path }) => [name, home.baseUrl + path]));
  const page = writePage(home);
  app.get('/', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-cache', vary: 'Accept' });
    if (request.accepts().type(['json', 'html']) !== 'html') return json;
    return reply.headers(plainPageHeaders).send(page);
  });
}

function writePage({ title, summary, baseUrl, links }: Home): string {
  const rows = links.map(({ label, path, method }) => {
    // a relative link also works behind a proxy that adds a prefix to the path
    const target =
      method === undefined ? `<a href=".${path}">${path}</a>` : `<code>${method} ${escapeHtml(baseUrl)}${path}</code>`;
    return `<dt>${label}</dt><dd>${target}</dd>`;
  });
  return plainPage(
    title,
    `<h1>${title}</h1>
<p>${summary}</p>
<dl>
${rows.join('\n')}
</dl>`,
  );
}
