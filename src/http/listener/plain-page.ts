import { createHash } from 'node:crypto';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML elements and quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

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

/** Headers of a page of `plainPage`. */
export const plainPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const;

/** Writes a page without a script; `main` is HTML. */
export const plainPage = (title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
