import { createHash } from 'node:crypto';

/** Escapes text for HTML elements and quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Colors, font and logo of the console (packages/console/ui/tokens.css). */
const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif;
--line:light-dark(oklch(91% .006 260),oklch(32% .015 262));--surface:light-dark(#fff,oklch(22.5% .014 262));
--text:light-dark(oklch(26% .02 262),oklch(93.5% .006 262));--soft:light-dark(oklch(48% .018 262),oklch(75% .014 262));
--accent:light-dark(oklch(50% .18 264),oklch(76% .12 264));--on-accent:light-dark(#fff,oklch(20% .04 264))}
body{margin:0;background:light-dark(oklch(97.8% .004 260),oklch(18.5% .012 262));color:var(--text)}
body>header{background:var(--surface);border-bottom:1px solid var(--line)}
body>header p,main{box-sizing:border-box;max-width:54rem;margin:0 auto;padding:0 1rem}
body>header p{display:flex;align-items:center;gap:.5rem;height:56px;color:var(--text);font-weight:650}
svg{width:24px;fill:var(--on-accent)}svg rect:first-child{fill:var(--accent)}
main{padding:2rem 1rem}h1{margin:0;font-size:1.5rem}p{color:var(--soft)}code{font-size:.9em}a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** Headers of a page of `plainPage`; `connect-src` lets tools read its /robots.txt. */
export const plainPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const;

/** The mark of the product; its colors are those of the page. */
export const logo =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6"/><rect x="4" y="13" width="4" height="6"/><rect x="10" y="5" width="4" height="14"/><rect x="16" y="9" width="4" height="10"/></svg>';

/** Writes a page without a script; `main` is HTML. */
export const plainPage = (title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="description" content="Reports of data subscriptions">
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header><p>${logo}subreport</p></header>
<main>
${main}
</main>
</body>
</html>
`;
