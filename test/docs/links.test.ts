import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = globSync(['*.md', '{docs,bench,examples,.github}/**/*.md'], { cwd: root });

/** The text of a page without its code blocks. */
const proseOf = (page: string): string => read(page).replaceAll(/^```.*?^```/gms, '');

/** Anchors of a page: those of its headings, as GitHub generates them, and explicit ones. */
function anchorsOf(page: string): string[] {
  const slugs = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const headings = slugs.map((slug, index) => {
    const before = slugs.slice(0, index).filter((other) => other === slug).length;
    return before === 0 ? slug : `${slug}-${before}`;
  });
  const named = [...proseOf(page).matchAll(/^<a id="([\w-]+)"><\/a>$/gm)].map(([, id = '']) => id);
  return [...named, ...headings];
}

/** Links and images of a page to files of the repository and to anchors. */
const linksOf = (page: string): string[] =>
  [...proseOf(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link = '']) => link);

test('every relative link in a page leads to a file, and its anchor to a heading', () => {
  const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ page, link }) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !(target.endsWith('.md') && anchorsOf(target).includes(anchor));
  });
  expect(broken).toEqual([]);
});

test('every page that sources and pages name exists, with the anchor that they name', () => {
  const files = [
    ...pages,
    ...globSync('{packages,test,tools,bench}/**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules'] }),
  ];
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\b(docs\/[\w/-]+\.md)\b(?:#([\w-]+))?/g)].map(([, path = '', anchor]) => ({
      file,
      path,
      anchor,
    })),
  );
  const isThere = (path: string, anchor?: string): boolean =>
    existsSync(join(root, path)) && (anchor === undefined || anchorsOf(path).includes(anchor));
  expect(named.filter(({ path, anchor }) => !isThere(path, anchor))).toEqual([]);
});

test('docs/README.md lists every page of docs; decisions have their own index', () => {
  const listed = new Set(linksOf('docs/README.md').map((link) => `docs/${link.split('#')[0]}`));
  const missing = pages.filter(
    (page) => /^docs\/(?!decisions\/\w)/.test(page) && page !== 'docs/README.md' && !listed.has(page),
  );
  expect(missing).toEqual([]);
});

test('every source file that a page names is there, or made by a recipe', () => {
  const folders = 'auth|bench|cli|client|contract|http|import|packages|report|storage|test|tools';
  const named = pages.flatMap((page) =>
    [...proseOf(page).matchAll(new RegExp(`\`((?:${folders})/[\\w./-]+\\.(?:ts|mjs|sql|md))\``, 'g'))].map(
      ([, path = '']) => ({ page, path }),
    ),
  );
  expect(named.length).toBeGreaterThan(30);
  const made = readdirSync(join(root, 'test/recipes'))
    .filter((file) => file.endsWith('.patch'))
    .flatMap((file) => [...readFileSync(join(root, 'test/recipes', file), 'utf8').matchAll(/^\+\+\+ b\/(.+)$/gm)])
    .map(([, path = '']) => path);
  const isThere = (path: string): boolean =>
    made.includes(path) ||
    [path, `packages/${path}`, `packages/service/${path}`].some((each) => existsSync(join(root, each)));
  expect(named.filter(({ path }) => !isThere(path))).toEqual([]);
});
