import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { HomeLink } from './home-links.ts';

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
    return reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }).send(page);
  });
}

/** Colors and font of the console. */
const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{margin:0 auto;max-width:54rem;padding:2rem 1rem;background:light-dark(#fff,#12161d);color:light-dark(#1a1f27,#e6e9ef)}
h1{margin:0;font-size:1.5rem}
p,dt{color:light-dark(#5a6472,#a7b0be)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.5rem}
dd{margin:0;overflow-wrap:anywhere}
a{color:light-dark(#1452cc,#8ab4ff)}
@media(max-width:30rem){dl{display:block}dd{margin-bottom:.75rem}}`;

const styleHash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function writePage({ title, summary, baseUrl, links }: Home): string {
  const rows = links.map(({ label, path, method }) => {
    // a relative link also works behind a proxy that adds a prefix to the path
    const target =
      method === undefined ? `<a href=".${path}">${path}</a>` : `<code>${method} ${escapeText(baseUrl)}${path}</code>`;
    return `<dt>${label}</dt><dd>${target}</dd>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${summary}</p>
<dl>
${rows.join('\n')}
</dl>
</main>
</body>
</html>
`;
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
